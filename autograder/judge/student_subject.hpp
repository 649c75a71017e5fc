// A student's implementation behind the pipe: starts the sandboxed runner, asks it, and turns
// everything that can go wrong over there into a fault of a run. Nothing it receives is trusted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/subject.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab {

struct RunnerOrder {
  std::string runner;       // host path of runner_<slug>
  std::string torch;        // host folder with lib/
  std::string cuda_libs;    // host folder of the CUDA runtime stubs, may be empty
  std::string library_dir;  // host folder that holds, or will hold, the hand-in's shared object
  sandbox::Isolation isolation = sandbox::Isolation::kFull;
  double case_cpu_seconds = 2;
  double hand_in_seconds = 30;
  uint64_t address_space = 2048 * sandbox::kMiB;
  int processes = 32;
  size_t output = 64 * 1024;  // bytes that one case may print
};

// The runner did not come up, before any student code was near it: the grader's own fault.
class RunnerFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class StudentSubject : public Subject {
 public:
  explicit StudentSubject(RunnerOrder order);
  ~StudentSubject() override;

  // Starts the runner, which loads LibTorch and waits. REQUIRES: the calling thread lives on.
  void start();
  // Tells it which file of library_dir to open. Afterwards load_error() says why it could not be
  // linked (a declared function that is nowhere defined), if so.
  void load(const std::string& file_name);
  const std::string& load_error() const;

  std::vector<Observation> observe(const std::string& experiment,
                                   const std::vector<Case>& cases) override;

  // CPU seconds that the hand-in's cases have used, and whether they have used its whole allowance.
  bool out_of_time() const;
  // What the hand-in printed in all, cut at the limit.
  const std::string& printed() const;
  bool printed_too_much() const;

 private:
  class Link;
  std::unique_ptr<Link> link_;
};

}  // namespace gradlab
