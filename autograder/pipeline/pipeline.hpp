// The one way from a hand-in to its record: compile in the sandbox, judge, gather. check, grade,
// doctor and the test suite all run this.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "intake/intake.hpp"
#include "pipeline/judge_client.hpp"
#include "record/record.hpp"

namespace gradlab::pipeline {

struct Setup {
  std::string root;   // of the repository
  std::string build;  // root/build/release
  sandbox::Isolation isolation = sandbox::Isolation::kFull;
  compile::Toolchain toolchain;
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C: what runs is cut off
};

struct Job {
  intake::HandIn hand_in;
  record::Start start;
  bool diagnose = true;
  // Load LibTorch in judge and runner while the compiler runs: the fastest for one hand-in, a loss
  // where all cores have work anyway.
  bool overlap = false;
  // Called once all verdicts are in, before the diagnosis, with the settled record.
  std::function<void(const Record&)> on_verdicts;
};

// What an audit found: the score with each seed.
struct Audit {
  std::vector<std::string> seeds;
  std::vector<std::optional<int>> scores;             // empty where there is none
  std::vector<std::vector<std::string>> not_passing;  // names of checks, a list a seed
};

// Grades hand-ins of one lab, one at a time. To be used from one thread, which must live as long.
class Worker {
 public:
  // REQUIRES: the lab is built and its precompiled header prepared.
  Worker(const Manifest& lab, const Setup& setup);
  ~Worker();

  Record grade(const Job& job);
  // Grades the same compiled hand-in once a seed. The record is the first seed's.
  Audit audit(const Job& job, const std::vector<std::string>& seeds);
  // A built-in implementation, "reference", "bug:NAME" or "idle:NAME".
  Record grade_built_in(const std::string& subject, const record::Start& start,
                        bool diagnose = false);
  Audit audit_built_in(const std::string& subject, const std::vector<std::string>& seeds);

  struct Replayed {
    std::string problem;  // why there is no answer: it does not compile
    std::string got;
    bool same = false;
    bool passes = false;
  };
  // Runs a recorded failing case with a hand-in.
  Replayed replay(const intake::HandIn& hand_in, const record::Failing& failing);

  struct Trained {
    std::string problem;             // why there is no log: it does not compile, a task is missing
    bool offered = true;             // whether the lab has a training run at all
    std::vector<std::string> lines;  // of the log, without their ends
  };
  // The lab's training run with a hand-in.
  Trained train(const intake::HandIn& hand_in, const std::string& seed);

  // Starts the judge ahead of the first order.
  void warm_up();

 private:
  class Run;
  const Manifest& lab_;
  const Setup& setup_;
  compile::Compiler compiler_;
  JudgeClient judge_;
};

// Names of the grader's parts for the record; the hash is over everything that decides a grade.
record::Grader describe_grader(const Manifest& lab, const Setup& setup);

}  // namespace gradlab::pipeline
