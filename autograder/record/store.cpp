#include "record/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "record/errors.hpp"
#include "record/sha256.hpp"

namespace gradlab::record {
namespace {

constexpr std::size_t kLongestStem = 120;  // leaves room for an ending in the 255 bytes of a name

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Unique without asking the clock, which may jump: several workers write into one folder.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  return path.parent_path() / fmt::format(".gradlab-{}-{}.tmp", ::getpid(), count++);
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0)
    ::fsync(fd.get());  // some file systems cannot; the file itself is whole by now
}

}  // namespace

std::string file_stem(std::string_view student) {
  if (student.empty()) return "%";
  std::string stem;
  for (std::size_t i = 0; i < student.size(); ++i) {
    const char c = student[i];
    if (is_plain(c) && !(i == 0 && c == '.')) {
      stem += c;
    } else {
      stem += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  // '~' is never plain, so a cut name is no other student's whole name.
  if (stem.size() > kLongestStem) {
    stem = stem.substr(0, kLongestStem - 33) + "~" + sha256(student).substr(0, 32);
  }
  return stem;
}

void write_file(const std::filesystem::path& path, std::string_view bytes, Sync sync) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const auto temporary = folder / temporary_beside(path).filename();
  const Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) throw errors::not_written(path.string(), std::strerror(errno));
  const bool written = write_all(fd.get(), bytes) &&
                       (sync == Sync::kNo || ::fsync(fd.get()) == 0) &&
                       ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    throw errors::not_written(path.string(), why);
  }
  if (sync == Sync::kYes) sync_folder(folder);
}

void write_record(const std::filesystem::path& path, const Record& record) {
  write_file(path, to_text(record));
}

Record read_record(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw errors::no_file(path.string(), "it is a folder");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw errors::no_file(path.string(), std::strerror(errno));
  return parse({std::istreambuf_iterator<char>(file), {}}, path.string());
}

}  // namespace gradlab::record
