// The reference's answers, kept. A check asks the reference for the same cases whoever is judged,
// so they can be made before there is anybody to judge: while the hand-in still compiles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/grading.hpp"
#include "judge/subject.hpp"

namespace gradlab {

class Remembering : public Subject {
 public:
  explicit Remembering(Subject& reference) : reference_(reference) {}
  // Answers are shared: a check compares with them and does not change them.
  std::vector<Observation> observe(const std::string& experiment,
                                   const std::vector<Case>& cases) override;
  // The same, and kept from then on.
  std::vector<Observation> learn(const std::string& experiment, const std::vector<Case>& cases);
  void forget();

 private:
  Subject& reference_;
  std::map<std::string, std::vector<Observation>> answers_;  // by all bytes of the question
  size_t bytes_ = 0;                                         // of all questions that are kept
};

// Runs the order's checks one by one on the reference itself, which learns its answers, as long as
// `go_on` says so. No outcome is looked at.
void rehearse(Remembering& reference, const GradingOrder& order,
              const std::function<bool()>& go_on);

}  // namespace gradlab
