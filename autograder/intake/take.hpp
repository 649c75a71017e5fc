// One untrusted file, read once and by descriptor: what is checked is what is copied.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "intake/intake.hpp"

namespace gradlab::intake {

class Folder {
 public:
  // Opens `name` below `parent` (AT_FDCWD for a path). errno tells why is_open() is false.
  Folder(int parent, const char* name, bool follow_links);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // Names by bytes, without hidden ones and __MACOSX.
  std::vector<std::string> names() const;
  std::vector<std::string> hidden_names() const;  // without . and ..
  unsigned mode(const std::string& name) const;   // st_mode without following a link; 0 when gone
  std::string shown(const std::string& name) const;  // with a '/' when it is a folder

 private:
  std::vector<std::string> all_names() const;

  int fd_;
};

std::string kind_of(unsigned mode);  // "a symbolic link", "a folder", …

struct Taken {
  std::string bytes;
  bool read = false;  // false: nothing is known about the bytes
  std::optional<Refusal> refused;
};

// Reads at most most_kib and looks whether it is source text. `shown` is the file's name in
// messages.
Taken take(int folder, const std::string& name, std::string_view shown, std::int64_t most_kib,
           bool follow_links);

}  // namespace gradlab::intake
