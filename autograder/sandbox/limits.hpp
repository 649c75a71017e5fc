// What one sandboxed process may use. Plain data without libraries, because the runner reads it
// too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradlab::sandbox {

inline constexpr std::uint64_t kMiB = 1024 * 1024;

struct Limits {
  double cpu_seconds = 20;                    // of one process; the kernel ends it there
  double wall_seconds = 100;                  // of the whole sandbox, counted here
  std::uint64_t address_space = 1536 * kMiB;  // bytes, of one process
  std::uint64_t file_size = 64 * kMiB;        // bytes, of one file
  std::uint64_t tmpfs = 64 * kMiB;            // bytes, of the private /tmp
  int processes = 32;                         // in the sandbox, threads included; 0: not limited
  int open_files = 256;                       // of one process
  std::size_t output = 64 * 1024;             // bytes of stdout and stderr together, then killed
};

}  // namespace gradlab::sandbox
