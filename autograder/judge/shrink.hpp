// Makes the case that a failure is shown on smaller: fewer tensors, fewer elements, rounder
// numbers. Only what is shown changes, never a verdict.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/context.hpp"

namespace gradlab {

// A lab says which smaller cases its contract still decides; without a word, all. Called at program
// start: [[maybe_unused]] const bool kBounds = shrink_only_to(decided_by_the_contract);
bool shrink_only_to(std::function<bool(const Case&)> allowed);

class Shrinking {
 public:
  Shrinking(Subject& judged, Subject& reference, std::string seed)
      : judged_(judged), reference_(reference), seed_(std::move(seed)) {}

  // A check's failure, on a smaller case if one was found: the check itself, run again with that
  // case in the place of its own, fails on it at the same value, and does not fail on it for the
  // reference. `asked` is what the check had asked when it failed. Tries a bounded number of cases
  // in all, and no more once the judged implementation crashed or hung.
  Failure smallest(const Failure& failed, const std::vector<Asked>& asked, const std::string& check,
                   int task);

 private:
  class Trials;
  Subject& judged_;
  Subject& reference_;
  std::string seed_;
  int tried_ = 0;
};

}  // namespace gradlab
