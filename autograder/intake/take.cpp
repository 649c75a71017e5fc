#include "intake/take.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "intake/errors.hpp"
#include "record/utf8.hpp"

namespace gradlab::intake {
namespace {

std::optional<Refusal> text_refusal(const std::string& bytes, std::string_view shown) {
  if (bytes.find_first_not_of(" \t\r\n\f\v") == std::string::npos) return errors::empty(shown);
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return errors::utf16(shown);
  if (const auto nul = bytes.find('\0'); nul != std::string::npos) {
    return errors::binary(shown, nul);
  }
  if (const auto at = record::first_invalid_utf8(bytes)) {
    const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<long>(*at), '\n');
    return errors::not_utf8(shown, *at, static_cast<std::size_t>(line));
  }
  return std::nullopt;
}

// False when reading failed; errno says why. One byte more than `most` shows that there is more.
bool read_up_to(int fd, std::size_t most, std::string& bytes) {
  bytes.resize(most + 1);
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + got, bytes.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  bytes.resize(got);
  return true;
}

Taken read_open(int fd, std::string_view shown, std::int64_t most_kib) {
  Taken taken;
  struct stat status = {};
  if (::fstat(fd, &status) != 0) {
    taken.refused = errors::unreadable(shown, std::strerror(errno));
    return taken;
  }
  if (!S_ISREG(status.st_mode)) {
    taken.refused = errors::not_regular(shown, kind_of(status.st_mode));
    return taken;
  }
  const auto most = static_cast<std::size_t>(most_kib) * 1024;
  if (!read_up_to(fd, most, taken.bytes)) {
    taken.refused = errors::unreadable(shown, std::strerror(errno));
  } else if (taken.bytes.size() > most) {
    taken.refused = errors::too_big(shown, most_kib);
  } else {
    taken.read = true;
    taken.refused = text_refusal(taken.bytes, shown);
  }
  return taken;
}

}  // namespace

Folder::Folder(int parent, const char* name, bool follow_links)
    : fd_(::openat(parent, name,
                   O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow_links ? 0 : O_NOFOLLOW))) {}

Folder::~Folder() {
  if (fd_ >= 0) ::close(fd_);
}

std::vector<std::string> Folder::names() const {
  auto all = all_names();
  std::erase_if(all, [](const auto& name) { return name[0] == '.' || name == "__MACOSX"; });
  return all;
}

std::vector<std::string> Folder::hidden_names() const {
  auto all = all_names();
  std::erase_if(all,
                [](const auto& name) { return name[0] != '.' || name == "." || name == ".."; });
  return all;
}

std::vector<std::string> Folder::all_names() const {
  std::vector<std::string> result;
  // A copy, because closedir() closes it; not opened by ".", which a folder without x refuses.
  const int copy = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) return result;
  ::rewinddir(stream);
  while (const dirent* entry = ::readdir(stream)) result.emplace_back(entry->d_name);
  ::closedir(stream);
  std::sort(result.begin(), result.end());
  return result;
}

unsigned Folder::mode(const std::string& name) const {
  struct stat status = {};
  return ::fstatat(fd_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mode : 0;
}

std::string Folder::shown(const std::string& name) const {
  return S_ISDIR(mode(name)) ? name + "/" : name;
}

std::string kind_of(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a file";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a named pipe";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

Taken take(int folder, const std::string& name, std::string_view shown, std::int64_t most_kib,
           bool follow_links) {
  Taken taken;
  struct stat status = {};
  const int follow = follow_links ? 0 : AT_SYMLINK_NOFOLLOW;
  // Looked at before it is opened, because opening a device can already do something.
  if (::fstatat(folder, name.c_str(), &status, follow) != 0) {
    taken.refused = errors::unreadable(shown, std::strerror(errno));
    return taken;
  }
  if (!S_ISREG(status.st_mode)) {
    taken.refused = errors::not_regular(shown, kind_of(status.st_mode));
    return taken;
  }
  const int fd =
      ::openat(folder, name.c_str(),
               O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (follow_links ? 0 : O_NOFOLLOW));
  if (fd < 0) {
    taken.refused = errno == ELOOP ? errors::not_regular(shown, kind_of(S_IFLNK))
                                   : errors::unreadable(shown, std::strerror(errno));
    return taken;
  }
  taken = read_open(fd, shown, most_kib);
  ::close(fd);
  return taken;
}

}  // namespace gradlab::intake
