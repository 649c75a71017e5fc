// What a start needs, laid out before the fork, because the caller has threads: after the fork
// (child.hpp) only calls that are safe in a signal handler may be made.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/descriptor.hpp"
#include "sandbox/uids.hpp"

namespace gradlab::sandbox {

// A host path that root brings to a place where an ordinary uid can reach it.
struct Stage {
  std::string host;
  std::string place;
  bool folder = false;
  bool writable = false;
};

struct Launch {
  std::string program;            // host path
  std::vector<std::string> argv;  // argv[0] included
  std::vector<std::string> environment;
  std::string directory;  // to change to; empty: /
  std::string staging;    // where a private tmpfs is mounted for the stages; or empty
  std::vector<Stage> stages;
  std::optional<uid_t> uid;  // to become, group too
  std::vector<std::pair<int, rlimit>> limits;
  bool channel = false;  // descriptor 3
  std::string filter;    // descriptor kFilter, or loaded before exec (lease); empty: none
  bool status = false;   // descriptor kStatus
  // Isolation container: the uid to become instead, under a keeper, and what may be opened.
  std::shared_ptr<Lease> lease;
  Descriptor ruleset;
};

// Descriptors of the child beside 0-2 and the channel.
inline constexpr int kChannel = 3;
inline constexpr int kFilter = 4;
inline constexpr int kRuleset = 4;  // closed before exec
inline constexpr int kStatus = 5;

struct Launched {
  pid_t pid = -1;
  Descriptor pidfd;    // may be missing
  Descriptor output;   // O_NONBLOCK
  Descriptor channel;  // may be missing
  Descriptor status;   // O_NONBLOCK, may be missing
  std::shared_ptr<Lease> lease;
};

// Returns when the program runs. Throws SandboxError kStart.
Launched launch(const Launch& plan);

}  // namespace gradlab::sandbox
