#include "compile/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/errors.hpp"

namespace gradlab::compile {
namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  // The sandbox may read under another uid, whatever our umask is.
  if (!file || chmod(path.c_str(), 0644) != 0) throw errors::no_cache(path, std::strerror(errno));
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) throw errors::no_cache(path, error.message());
  fs::permissions(path, fs::perms(0755), error);  // not ours: then it is as readable as it is
}

void remove_all(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::string flat_name(const std::string& header) {
  std::string name;
  for (const char c : header) name += c == '/' ? "__" : std::string(1, c);
  return name;
}

std::uint64_t hash(const std::string& text, std::uint64_t seed) {
  std::uint64_t value = 0xcbf29ce484222325ULL ^ seed;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return value;
}

FileLock::FileLock(const std::string& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (file_ < 0) throw errors::no_cache(path, std::strerror(errno));
  while (flock(file_, LOCK_EX) != 0) {
    if (errno != EINTR) throw errors::no_cache(path, std::strerror(errno));
  }
}

FileLock::~FileLock() { close(file_); }

}  // namespace gradlab::compile
