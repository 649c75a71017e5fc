// lab.toml of any bytes: read, or refused by ManifestError.
#include <unistd.h>

#include <fstream>

#include "manifest/manifest.hpp"

namespace {

// A folder of this process in memory: a manifest is named by its folder.
std::filesystem::path lab_toml() {
  static const auto path = [] {
    const auto lab = std::filesystem::path("/dev/shm") /
                     ("gradlab-fuzz-" + std::to_string(getpid())) / "labs/sample";
    std::filesystem::create_directories(lab);
    std::atexit(
        [] { std::filesystem::remove_all("/dev/shm/gradlab-fuzz-" + std::to_string(getpid())); });
    return lab / "lab.toml";
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::ofstream(lab_toml(), std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    gradlab::manifest::read_manifest(lab_toml());
  } catch (const gradlab::manifest::ManifestError&) {
  }
  return 0;
}
