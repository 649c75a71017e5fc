// The check that runs now: who is judged, with which seed, and what has been found so far. gtest
// owns the flow of a check, so this is where its outcome is gathered.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/mismatch.hpp"
#include "judge/random.hpp"
#include "judge/subject.hpp"

namespace gradlab {

// A batch that the check asked the judged implementation for; diagnosis asks the bugs the same.
struct Asked {
  std::string experiment;
  std::vector<Case> cases;
  std::vector<Observation> got;
};

// A failed comparison, with the case it was made on.
struct Failure {
  std::optional<Case> in;  // shares its tensors; empty where no case was looked at
  std::string experiment;
  std::optional<Mismatch> mismatch;
  std::string text;
  std::string output;      // what the student printed in that case
  size_t index = 0;        // of the case in its batch
  std::string trace = {};  // the calls that were seen in that case; see Observation::kTrace
};

std::string trace_of(const Observation& seen);  // "" where there is none

class CheckContext {
 public:
  CheckContext(Subject& judged, Subject& reference, std::string seed);
  ~CheckContext();

  // Starts a check; forgets the one before.
  void begin(const std::string& check);

  Subject& subject() { return *recording_; }
  Subject& reference() { return reference_; }
  Random& random() { return *random_; }

  // The case that comparisons are made on from now on, and its place in the check's own list.
  void looking_at(const Case* in, const Observation* got = nullptr, size_t index = 0) {
    current_ = in;
    current_got_ = got;
    current_index_ = index;
  }
  // A case that stands in for the check's own at that place; see judge/shrink.hpp.
  struct Substitute {
    size_t index;
    Case in;
  };
  std::optional<Substitute> substitute;
  const Case& case_at(const std::vector<Case>& cases, size_t index) const {
    return substitute && substitute->index == index ? substitute->in : cases[index];
  }
  // A matcher's last mismatch; taken by the failure that gtest reports next.
  void mismatch(Mismatch mismatch) { pending_ = std::move(mismatch); }
  void came_near(double ratio);
  void fail(const std::string& text);

  // Outcome.
  bool stopped = false;  // the check was ended by observe(), by an exception of its own
  Fault fault = Fault::kNone;
  std::string fault_task;
  std::string fault_detail;
  std::vector<Failure> failures;
  std::vector<Asked> asked;
  std::optional<Failure> faulty;  // the case of the fault; its output is what was printed in it
  std::optional<double> closest;  // off_by / allowed of the comparison nearest to its tolerance

  // The failure on the smallest case: the one to show.
  const Failure* smallest() const;

 private:
  class Recording;
  Subject& reference_;
  std::unique_ptr<Subject> recording_;
  std::string seed_;
  std::optional<Random> random_;
  const Case* current_ = nullptr;
  const Observation* current_got_ = nullptr;
  size_t current_index_ = 0;
  std::optional<Mismatch> pending_;
};

// The context of the check that runs now. REQUIRES: one is set.
CheckContext& context();
void set_context(CheckContext* context);

}  // namespace gradlab
