// Runs one program in a box: own namespaces, own file system, limits, seccomp (isolation full); a
// uid of its own, Landlock, limits, seccomp (container); or with limits alone (none). Linux. It
// never prints, and it leaves no process behind that it started.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/limits.hpp"

namespace gradlab::sandbox {

// full: bubblewrap. container: for images that are themselves the box, as root. none: limits only,
// for one's own file.
enum class Isolation { kFull, kContainer, kNone };

std::string to_string(Isolation isolation);  // "full", "container", "none"
std::optional<Isolation> isolation_from(std::string_view text);

// A file or folder of the host and the absolute path it has in the box. Read-only unless writable;
// a writable folder is given to the uid that the box runs under (chown, when we are root).
struct Mount {
  std::string host;
  std::string inside;
  bool writable = false;
};

struct Command {
  std::vector<std::string> argv;  // argv[0] is an absolute path, of the box
  // Applied in this order, so a later one covers an earlier one.
  std::vector<Mount> mounts;
  std::vector<std::pair<std::string, std::string>> environment;  // all of it, but PATH
  std::string working_directory = "/tmp";                        // a path of the box
  Limits limits;
  // true: the box of a runner. It has shared libraries, cpuinfo, null and urandom, no programs but
  // argv[0]; the runner sets its own limits and filter (doors.hpp), since some of them only count
  // inside. false: the box of a compile. It has /usr/bin, /usr/lib, /usr/include and the limits.
  bool for_runner = false;
};

enum class Ending { kExited, kSignalled, kTimeLimit, kOutputLimit, kNotStarted };

struct Result {
  Ending ending = Ending::kNotStarted;
  // Exit status or signal number, by ending. As a shell tells it: an exit status above 128 is a
  // signal's.
  int code = 0;
  // Of all processes in the box. Not known (0) for a runner and for a box that had to be killed.
  double cpu_seconds = 0;
  double wall_seconds = 0;
  std::string output;  // stdout and stderr as they came, raw bytes, at most limits.output
  bool output_cut = false;
  std::string why;  // of kNotStarted, kTimeLimit and kOutputLimit: a sentence for people
};

enum class SandboxErrorKind {
  kNotOffered,    // isolation container, without root or Landlock
  kNoBubblewrap,  // isolation full without bwrap
  kBadCommand,    // a relative path, a mount that does not exist
  kStart,         // a system call failed between fork and exec
};

class SandboxError : public std::runtime_error {
 public:
  SandboxError(SandboxErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  SandboxErrorKind kind() const { return kind_; }

 private:
  SandboxErrorKind kind_;
};

// Runs the command to its end, stdin empty. A start that fails is kNotStarted with its reason.
// Throws SandboxError kNotOffered. Safe from several threads at once.
Result run(const Command& command, Isolation isolation);

// A running box. The thread that starts it must live as long as the box: the kernel kills the box
// when that thread ends. Destruction kills.
class Process {
 public:
  // Throws SandboxError.
  static Process start(const Command& command, Isolation isolation);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  int channel() const;  // our end of a stream socket pair; the child's end is its descriptor 3
  int output() const;   // read end of the child's stdout and stderr, O_NONBLOCK
  pid_t pid() const;    // of the outermost process
  int pidfd() const;    // readable when it ended, for poll; -1 on kernels before 5.3
  bool ended() const;   // without waiting

  // Kills everything in the box and returns when it is gone. May be called twice. With isolation
  // none only the process group is reached: a process that called setsid() stays.
  void kill();
  // Waits for the end, until limits.wall_seconds after the start, and reads what output() still
  // holds. When it returns nothing of the box runs. REQUIRES: not called before.
  Result wait();

 private:
  struct State;
  explicit Process(std::unique_ptr<State> state);
  friend Result run(const Command& command, Isolation isolation);

  std::unique_ptr<State> state_;
};

// The path under which the command meets a file that it names `inside`: the same with isolation
// full, otherwise the host path, by the last mount that holds it.
std::string path_inside(const Command& command, Isolation isolation, const std::string& inside);

struct Probe {
  Isolation best = Isolation::kNone;
  std::string why_not_full;  // empty when full works
  std::string remedy;        // the lines that mend it, with line ends; empty when full works
};

// Runs a small program in a full box and looks whether the host's files and network are out of its
// reach. 10-20 ms; once a process, then remembered.
const Probe& probe();

// The same for isolation container: empty when it works here, otherwise why not and the way out.
const std::string& probe_container();

// What isolation container leaves open that full does not: sentences for whoever reads a record.
// Of full it is empty; of none it is one sentence.
std::vector<std::string> not_promised(Isolation isolation);

}  // namespace gradlab::sandbox
