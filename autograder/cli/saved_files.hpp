// Notices that a file was saved, however an editor does it: in place, or as a new file under the
// old name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gradlab::cli {

class SavedFiles {
 public:
  // Files of this folder that end in .cpp. Where the file system tells nobody of changes (9p, nfs,
  // fuse), or `poll` is true, the folder is looked at each 300 ms.
  explicit SavedFiles(std::filesystem::path folder, bool poll = false);
  ~SavedFiles();
  SavedFiles(const SavedFiles&) = delete;
  SavedFiles& operator=(const SavedFiles&) = delete;

  // For poll(): readable when something happened; -1 where the folder has to be looked at.
  int descriptor() const { return inotify_; }
  // How long poll() may wait at most, in ms; -1: as long as it likes.
  int patience() const;

  enum class Kind { kSaved, kGone };
  struct Change {
    std::filesystem::path file;
    Kind kind;
  };
  // What changed since the last call. Waits until a save is over: no write for 40 ms.
  std::vector<Change> changes();

 private:
  struct Stamp {
    std::int64_t time = 0;
    std::uint64_t size = 0;
    ino_t number = 0;
    bool operator==(const Stamp&) const = default;
  };
  std::map<std::filesystem::path, Stamp> stamps() const;
  void drain() const;

  std::filesystem::path folder_;
  int inotify_ = -1;
  std::map<std::filesystem::path, Stamp> known_;
};

}  // namespace gradlab::cli
