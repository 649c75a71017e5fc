// A training log of any bytes, through the file reader and every format: read to its end, with
// notes for what isn't understood; LogError is for files that cannot be opened. What it says can be
// written.
#include <unistd.h>

#include <fstream>

#include "training_log/output/text.hpp"
#include "training_log/reading.hpp"

namespace {

// Never destroyed: it is used when the process ends.
const std::string& log_path() {
  static const auto& path =
      *new std::string("/dev/shm/gradlab-fuzz-log-" + std::to_string(getpid()));
  static const int cleared = std::atexit([] { unlink(log_path().c_str()); });
  static_cast<void>(cleared);
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::ofstream(log_path(), std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto report = gradlab::training_log::read_log(log_path());
  gradlab::training_log::show_text(report, {});
  gradlab::training_log::explain_text(report, {});
  gradlab::training_log::report_json(report);
  return 0;
}
