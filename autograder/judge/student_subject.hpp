// A student's implementation behind the pipe: starts the sandboxed runner, asks it, and turns
// everything that can go wrong over there into a fault of a run. Nothing it receives is trusted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/runner_link.hpp"
#include "judge/subject.hpp"

namespace gradlab {

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
  class Asking;
  std::unique_ptr<Asking> asking_;
};

}  // namespace gradlab
