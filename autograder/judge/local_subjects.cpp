#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "judge/implementations.hpp"
#include "judge/subject.hpp"
#include "runner/batch.hpp"

namespace gradlab {
namespace {

class InProcess : public Subject {
 public:
  explicit InProcess(AnyImpl impl) : impl_(std::move(impl)) {}
  std::vector<Observation> observe(const std::string& experiment,
                                   const std::vector<Case>& cases) override {
    const auto& run = lab().experiments.at(experiment);
    std::vector<Observation> seen;
    for (const auto& in : cases) seen.push_back(run_case(run, impl_.get(), in));
    return seen;
  }

 private:
  AnyImpl impl_;
};

class InChild : public Subject {
 public:
  explicit InChild(AnyImpl impl) : impl_(std::move(impl)) {}
  std::vector<Observation> observe(const std::string& experiment,
                                   const std::vector<Case>& cases) override {
    std::vector<Observation> seen;
    ask_in_child(impl_, experiment, cases, [&](size_t, Observation one) {
      seen.push_back(std::move(one));
      return true;
    });
    return seen;
  }

 private:
  AnyImpl impl_;
};

// A child that answers a batch, and is gone at the latest with this object.
class Answering {
 public:
  Answering(const void* impl, const Batch& batch) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::runtime_error("the judge could not make a socket pair");
    }
    std::fflush(nullptr);  // or the child writes it once more
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      answer(batch, impl, ends[1], nullptr);
      _exit(0);
    }
    close(ends[1]);
    channel_ = ends[0];
    if (child_ < 0) {
      close(channel_);
      throw std::runtime_error("the judge could not fork");
    }
  }
  ~Answering() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(channel_);
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  // The next answer; its fault says how the child ended where there is none.
  Observation next() {
    if (child_ > 0) {
      if (auto frame = protocol::read_frame(channel_, decoder_)) {
        return Observation::from_frame(*frame);
      }
      waitpid(child_, &status_, 0);
      child_ = 0;
    }
    Observation lost;
    lost.fault = Fault::kCrashed;
    lost.detail = WIFSIGNALED(status_) ? fmt::format("signal {}", WTERMSIG(status_))
                                       : fmt::format("exit status {}", WEXITSTATUS(status_));
    return lost;
  }

 private:
  pid_t child_ = -1;
  int channel_ = -1;
  int status_ = 0;
  protocol::FrameDecoder decoder_;
};

}  // namespace

std::unique_ptr<Subject> subject_in_process(AnyImpl impl) {
  return std::make_unique<InProcess>(std::move(impl));
}

std::unique_ptr<Subject> subject_in_child(AnyImpl impl) {
  return std::make_unique<InChild>(std::move(impl));
}

void ask_in_child(const AnyImpl& impl, const std::string& experiment,
                  const std::vector<Case>& cases,
                  const std::function<bool(size_t, Observation)>& go_on) {
  Answering child(impl.get(), Batch{0, experiment, cases});
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!go_on(i, child.next())) return;
  }
}

Implementations& implementations() {
  static Implementations all;
  return all;
}

}  // namespace gradlab
