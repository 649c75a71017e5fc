// Work in a process of its own: what it keeps in memory is gone afterwards, and it may be ended in
// the middle of a write. And a folder for files, removed with its object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace gradlab::resume_runs {

// What a file may hold in that process, and what happens beyond: the process is killed, or the
// write fails as on a full disk.
struct FileLimit {
  uint64_t bytes = 0;
  bool kills = true;
};

// What `body` returns, made in a child of this process. A task that is not started, an exception, a
// crash and a CPU limit in there end this process's call in the same way. Nothing where the child
// was killed by its file limit.
std::optional<std::string> in_another_process(const std::function<std::string()>& body,
                                              const std::optional<FileLimit>& limit = {});

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// All bytes of a file; nothing where there is none.
std::optional<std::string> bytes_of_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);

}  // namespace gradlab::resume_runs
