// What this process may do to hide files behind another uid, and which uids it takes for that.
#pragma once

#include <sys/types.h>

#include <string>

namespace gradlab::sandbox {

// Of systemd's range for uids that belong to nobody.
inline constexpr uid_t kFirstUid = 61184;
inline constexpr unsigned kSharedUids = 64;  // of full boxes; two of them may have the same
inline constexpr uid_t kFirstOwnUid = kFirstUid + kSharedUids;
inline constexpr unsigned kOwnUids = 64;  // pairs, of boxes of a container; uids.hpp

enum class Privilege {
  kOrdinary,  // bubblewrap runs under our own uid
  kRoot,      // RLIMIT_NPROC is void for root, and an ordinary uid may not see our files: they are
              // mounted where it can, then the uid is dropped
  kRootNoMount  // root in a container that may not mount: the uid is dropped, no more
};
Privilege privilege();

// The first of these folders, made if need be, that is root's alone to replace. Throws SandboxError
// kStart.
std::string root_folder(const char* in_run, const char* in_tmp, mode_t mode);

}  // namespace gradlab::sandbox
