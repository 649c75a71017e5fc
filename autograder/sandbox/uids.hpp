// A uid that one box alone has on this machine, for as long as it runs, and its private temporary
// folder. Held by a lock in a folder that is root's, so that other gradlab processes see it, and
// that a killed one frees it: whoever takes it next ends and removes what is left.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "sandbox/descriptor.hpp"

namespace gradlab::sandbox {

class Lease {
 public:
  // REQUIRES: privilege() is not kOrdinary. Throws SandboxError kStart, also when all are taken.
  static std::shared_ptr<Lease> take();
  // Removes the folder, whatever it holds, and frees the uid.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  uid_t uid() const { return uid_; }         // gid too
  uid_t killer() const { return uid_ + 1; }  // what ends the box's processes runs under this one
  int lock() const { return lock_.get(); }
  const std::string& folder() const { return folder_; }

  // Nothing of the box runs any more. Without this word the destructor sees to it first.
  void all_ended() { all_ended_ = true; }

 private:
  Lease(uid_t uid, Descriptor lock) : uid_(uid), lock_(std::move(lock)) {}
  bool clear() const;
  void make_folder();
  static std::shared_ptr<Lease> take_pair(const std::string& locks, unsigned pair);

  uid_t uid_;
  Descriptor lock_;
  std::string folder_;
  bool all_ended_ = false;
};

// Can a uid that is nobody's reach this path, all folders above it included? The one that it can't
// pass; empty when it can.
std::string barrier_to(const std::string& path);

}  // namespace gradlab::sandbox
