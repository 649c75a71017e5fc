// A private folder for one hand-in's compile, gone when its owner is.
// In a container boxes run under other uids and meet it at its real place: they may pass through
// it, not list it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace gradlab::pipeline {

class WorkFolder {
 public:
  enum class For { kUs, kOtherUids };

  explicit WorkFolder(For whom = For::kUs) {
    const char* const named = getenv("TMPDIR");
    const std::filesystem::path place = named == nullptr || *named == '\0' ? "/tmp" : named;
    std::string pattern = (place / "gradlab-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("no temporary folder could be made in " + place.string() +
                               ": is the disk full, or TMPDIR wrong?");
    }
    path_ = pattern;
    if (whom == For::kOtherUids) std::filesystem::permissions(path_, std::filesystem::perms(0711));
    std::filesystem::create_directory(out());
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path out() const { return path_ / "out"; }  // where the compiler may write

 private:
  std::filesystem::path path_;
};

}  // namespace gradlab::pipeline
