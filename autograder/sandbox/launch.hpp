// The step between fork and exec. Everything it needs is laid out before the fork, because the
// caller has threads: after the fork only calls that are safe in a signal handler may be made.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  std::string filter;    // descriptor kFilter; empty: none
  bool status = false;   // descriptor kStatus
};

// Descriptors of the child beside 0-2 and the channel.
inline constexpr int kChannel = 3;
inline constexpr int kFilter = 4;
inline constexpr int kStatus = 5;

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset();
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct Launched {
  pid_t pid = -1;
  Descriptor pidfd;    // may be missing
  Descriptor output;   // O_NONBLOCK
  Descriptor channel;  // may be missing
  Descriptor status;   // O_NONBLOCK, may be missing
};

// Returns when the program runs. Throws SandboxError kStart.
Launched launch(const Launch& plan);

}  // namespace gradlab::sandbox
