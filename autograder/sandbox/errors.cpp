#include "sandbox/errors.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gradlab::sandbox::errors {

SandboxError container_is_not_offered() {
  return {SandboxErrorKind::kNotOffered,
          "isolation 'container' is not offered yet. Use full (bubblewrap), or none for your own "
          "file."};
}

SandboxError no_bubblewrap() {
  return {SandboxErrorKind::kNoBubblewrap,
          "bubblewrap (bwrap) is not installed. Install it: apt-get install bubblewrap"};
}

SandboxError nothing_to_run() {
  return {SandboxErrorKind::kBadCommand, "the command has no program. Give one as argv[0]."};
}

SandboxError relative_path(const std::string& path) {
  return {SandboxErrorKind::kBadCommand,
          fmt::format("'{}' is not an absolute path. Programs and mounts need one.", path)};
}

SandboxError missing_mount(const std::string& host) {
  return {SandboxErrorKind::kBadCommand,
          fmt::format("{} does not exist or cannot be read, and the sandbox needs it. Build or set "
                      "up again.",
                      host)};
}

SandboxError unreadable_mount(const std::string& host) {
  return {SandboxErrorKind::kBadCommand,
          fmt::format("{0} can be read by its owner alone, and as root the sandbox runs under "
                      "another user. Let all read it: chmod -R a+rX {0}",
                      host)};
}

SandboxError system_call(const std::string& what, int error) {
  return {SandboxErrorKind::kStart,
          fmt::format("the sandbox did not start: {}: {}", what, std::strerror(error))};
}

std::string out_of_wall_time(double seconds) {
  return fmt::format("stopped after {:g} s by the clock", seconds);
}

std::string out_of_cpu_time(double seconds) {
  return fmt::format("stopped after {:g} s of CPU time", seconds);
}

std::string too_much_output(std::size_t bytes) {
  return fmt::format("stopped after more than {} KiB of output", bytes / 1024);
}

std::string box_did_not_start(const std::string& said) {
  return fmt::format("the sandbox did not start: {}", said.empty() ? "bwrap gave no reason" : said);
}

}  // namespace gradlab::sandbox::errors
