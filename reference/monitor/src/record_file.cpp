#include "record_file.hpp"

#include <cerrno>
#include <cstring>

#include "errors.hpp"

namespace gradlab::monitor {
namespace {

// The last character of the file; 0 where it is empty or cannot be read.
char last_character(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return '\0';
  in.seekg(-1, std::ios::end);
  return static_cast<char>(in.get());
}

}  // namespace

RecordFile::RecordFile(const std::string& path, FileMode mode) {
  const char last = last_character(path);
  if (mode == FileMode::kNew && last != '\0') throw errors::record_exists(path);
  const auto how = mode == FileMode::kOverwrite ? std::ios::trunc : std::ios::app;
  errno = 0;
  out_.open(path, std::ios::binary | std::ios::out | how);
  if (!out_) {
    throw errors::record_not_writable(path, errno != 0 ? std::strerror(errno) : "it does not open");
  }
  if (mode == FileMode::kAppend && last != '\0' && last != '\n') out_.put('\n');
}

bool RecordFile::write(const std::string& line) {
  out_.write(line.data(), static_cast<std::streamsize>(line.size())).flush();
  return out_.good();
}

}  // namespace gradlab::monitor
