#include "sandbox/errors.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gradlab::sandbox::errors {

SandboxError no_container(const std::string& why) {
  return {SandboxErrorKind::kNotOffered, "isolation 'container' does not work here: " + why};
}

std::string container_needs_root(bool is_root) {
  return is_root
             ? "this root may not become another user: CAP_SETUID or CAP_SETGID is missing, or the "
               "container is rootless and has too few uids.\nStart the container as root of the "
               "machine, with Docker's default capabilities."
             : "it needs root, to give each hand-in a uid of its own.\nRun gradlab as root inside "
               "the container (docker run --user 0).";
}

std::string container_needs_landlock() {
  return "this kernel has no Landlock, which keeps files out of reach (Linux 5.13 or later, with "
         "landlock in the kernel's lsm= list; gVisor has none).\nUse a machine where bubblewrap "
         "works, or a newer kernel.";
}

SandboxError no_way_in(const std::string& host, const std::string& barrier) {
  return {
      SandboxErrorKind::kBadCommand,
      fmt::format("isolation 'container' runs a hand-in as another user, who cannot reach {}: {} "
                  "is closed to others. Move gradlab to a folder such as /opt/gradlab, or let "
                  "others in: chmod a+rX {}",
                  host, barrier, barrier)};
}

SandboxError no_uid_left(unsigned count) {
  return {SandboxErrorKind::kStart,
          fmt::format("the sandbox did not start: all {} uids for boxes are in use. Grade fewer "
                      "hand-ins at a time: --jobs 4",
                      count)};
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
