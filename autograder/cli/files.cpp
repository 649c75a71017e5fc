#include "cli/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "cli/messages.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;

bool write_new_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw messages::not_copied(path.string(), error.message());
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) throw messages::not_copied(path.string(), strerror(errno));
  bool good = true;
  for (size_t done = 0; good && done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) done += static_cast<size_t>(n);
  }
  const int why = errno;
  if (close(file) == 0 && good) return true;
  unlink(path.c_str());
  throw messages::not_copied(path.string(), strerror(good ? errno : why));
}

std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw fs::filesystem_error("cannot be read", path, {errno, std::generic_category()});
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path move_to_backup(const fs::path& path) {
  for (int number = 1;; ++number) {
    const fs::path backup = path.string() + "." + std::to_string(number);
    if (renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, backup.c_str(), RENAME_NOREPLACE) == 0) {
      return backup;
    }
    // Not every file system knows RENAME_NOREPLACE.
    if (errno == EINVAL && fs::symlink_status(backup).type() == fs::file_type::not_found) {
      fs::rename(path, backup);
      return backup;
    }
    if (errno != EEXIST && errno != EINVAL) {
      throw fs::filesystem_error("cannot be moved", path, {errno, std::generic_category()});
    }
  }
}

bool replace_state(const fs::path& path, const std::string& text) {
  const fs::path part = path.string() + ".part";
  std::ofstream(part, std::ios::binary) << text;
  std::error_code error;
  const bool whole = fs::file_size(part, error) == text.size() && !error;
  if (whole) fs::rename(part, path, error);
  if (whole && !error) return true;
  fs::remove(part, error);
  return false;
}

}  // namespace gradlab::cli
