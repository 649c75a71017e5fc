// Small helpers round files, with errors as CompileError.
#pragma once

#include <cstdint>
#include <string>

namespace gradlab::compile {

std::string read_file(const std::string& path);                     // empty when it cannot
void write_file(const std::string& path, const std::string& text);  // mode 0644
void make_folder(const std::string& path);                          // and its parents, 0755
void remove_all(const std::string& path);                           // never throws
std::string flat_name(const std::string& header);                   // torch/types.h: torch__types.h
std::uint64_t hash(const std::string& text, std::uint64_t seed);    // FNV-1a

// Held until destroyed; other processes wait.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

}  // namespace gradlab::compile
