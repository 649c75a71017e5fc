#include "runner/serve.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ctime>

#include "runner/batch.hpp"
#include "sandbox/doors.hpp"

namespace gradlab {
namespace {

struct Ended {
  const char* how = "exit";
  int code = 0;
  double cpu_seconds = 0;
};

// Where no box ends both: in a group of its own, so that all it starts can be killed with it, and
// not left behind when the runner is.
void die_with_runner() {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

int64_t cpu_ns_of(pid_t child) {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

double seconds(const rusage& used) {
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

class Server {
 public:
  Server(int channel, bool isolated) : channel_(channel), isolated_(isolated) {
    void* shared =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    progress_ = new (shared) Progress;
    impl_ = lab().empty_impl();
    sigemptyset(&child_signal_);
    sigaddset(&child_signal_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal_, nullptr);
  }

  int run() {
    if (!send({{"ready", true}})) return 1;
    auto opening = protocol::read_frame(channel_, decoder_);
    if (!opening || !open(opening->head)) return 1;
    while (auto frame = protocol::read_frame(channel_, decoder_)) {
      const Batch batch = Batch::from_frame(*frame);
      const Ended ended = run_in_child(batch);
      if (!send({{"end", batch.id},
                 {"how", ended.how},
                 {"code", ended.code},
                 {"cpu", ended.cpu_seconds}})) {
        break;
      }
    }
    return 0;
  }

 private:
  bool send(nlohmann::json head) { return protocol::write_frame(channel_, {std::move(head), {}}); }

  bool open(const nlohmann::json& order) {
    case_cpu_ns_ = static_cast<int64_t>(order.at("case_cpu_seconds").get<double>() * 1e9);
    sandbox::Limits limits;
    limits.address_space = order.at("address_space").get<uint64_t>();
    limits.processes = order.at("processes").get<int>();
    limits.cpu_seconds = order.at("hand_in_seconds").get<double>();
    limits.file_size = 1u << 20;
    sandbox::close_doors(limits);
    void* library = dlopen(order.at("library").get<std::string>().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      send({{"opened", false}, {"why", dlerror()}});
      return false;
    }
    using Fill = void (*)(void*);
    const auto fill = reinterpret_cast<Fill>(dlsym(library, "gradlab_fill_table"));
    if (fill == nullptr) {
      send({{"opened", false}, {"why", "the table of functions is missing"}});
      return false;
    }
    fill(impl_.get());
    return send({{"opened", true}});
  }

  Ended run_in_child(const Batch& batch) {
    progress_->case_started_cpu_ns = 0;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) return {"fork", errno};
    if (child == 0) {
      sigprocmask(SIG_UNBLOCK, &child_signal_, nullptr);
      if (!isolated_) die_with_runner();
      answer(batch, impl_.get(), channel_, progress_);
      std::fflush(nullptr);
      _exit(0);
    }
    const Ended ended = watch(child);
    // Whatever the hand-in left running must not meet the next batch.
    if (isolated_) {
      kill(-1, SIGKILL);
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    } else {
      kill(-child, SIGKILL);
    }
    return ended;
  }

  Ended watch(pid_t child) {
    const timespec pause{0, 20'000'000};
    for (;;) {
      int status = 0;
      rusage used{};
      const pid_t done = wait4(child, &status, WNOHANG, &used);
      if (done == child) {
        if (WIFSIGNALED(status)) return {"signal", WTERMSIG(status), seconds(used)};
        return {"exit", WEXITSTATUS(status), seconds(used)};
      }
      if (done < 0) return {"exit", -1};
      if (cpu_ns_of(child) - progress_->case_started_cpu_ns > case_cpu_ns_) {
        kill(child, SIGKILL);
        wait4(child, &status, 0, &used);
        return {"time_limit", 0, seconds(used)};
      }
      sigtimedwait(&child_signal_, nullptr, &pause);
    }
  }

  int channel_;
  bool isolated_;
  AnyImpl impl_;
  Progress* progress_ = nullptr;
  sigset_t child_signal_{};
  int64_t case_cpu_ns_ = 0;
  protocol::FrameDecoder decoder_;
};

}  // namespace

int serve(int channel, bool isolated) { return Server(channel, isolated).run(); }

}  // namespace gradlab
