#include "cli/process.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/messages.hpp"

extern char** environ;

namespace gradlab::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(const std::vector<std::string>& argv) {
  std::vector<char*> all;
  for (const auto& word : argv) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

// `output` is the child's stdout and stderr; -1 leaves it ours.
pid_t start(const std::vector<std::string>& argv, const std::string& directory, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  if (output >= 0) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  }
  // We may ignore signals; what we start must not inherit that.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  pid_t pid = 0;
  auto words = pointers(argv);
  const int error = posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw messages::cannot_start(argv.front(), strerror(error));
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Reads until the other end is closed.
class Reader {
 public:
  Reader(int descriptor, const Watch& watch) : descriptor_(descriptor), watch_(watch) {}

  std::string read_all() {
    const auto started = Clock::now();
    bool patient = static_cast<bool>(watch_.after_patience);
    for (;;) {
      int wait_ms = -1;
      if (patient) {
        const auto left = watch_.patience - (Clock::now() - started);
        wait_ms = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
        if (wait_ms <= 0) {
          patient = false;
          watch_.after_patience();
          continue;
        }
      }
      pollfd waits{descriptor_, POLLIN, 0};
      if (poll(&waits, 1, wait_ms) == 0 || !waits.revents) continue;
      if (!take()) return std::move(output_);
    }
  }

 private:
  bool take() {
    char buffer[65536];
    const ssize_t n = ::read(descriptor_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    output_.append(buffer, static_cast<size_t>(n));
    if (!watch_.on_line) return true;
    for (size_t end; (end = output_.find('\n', told_)) != std::string::npos; told_ = end + 1) {
      watch_.on_line(output_.substr(told_, end - told_));
    }
    return true;
  }

  int descriptor_;
  const Watch& watch_;
  std::string output_;
  size_t told_ = 0;
};

}  // namespace

Finished run_captured(const std::vector<std::string>& argv, const std::string& directory,
                      const Watch& watch) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw messages::cannot_start(argv.front(), strerror(errno));
  pid_t pid = 0;
  try {
    pid = start(argv, directory, ends[1]);
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  Finished finished;
  finished.output = Reader(ends[0], watch).read_all();
  close(ends[0]);
  finished.status = wait_for(pid);
  return finished;
}

int run_through(const std::vector<std::string>& argv, const std::string& directory) {
  return wait_for(start(argv, directory, -1));
}

}  // namespace gradlab::cli
