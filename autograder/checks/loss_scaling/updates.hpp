// What the checks of task 2 share: sequences of updates with the scales after each of them.
#pragma once

#include <vector>

#include "cases.hpp"

namespace gradlab::loss_scaling_checks {

constexpr const char* kScales = "scale_after_update";
constexpr const char* kTrackers = "growth_tracker_after_update";

// Lists of 0-dim tensors, as the experiment reports them.
Gradients scales(const std::vector<double>& values);
Gradients trackers(const std::vector<int64_t>& values);

// A sequence worked by hand. Where the factors are 2 and 0.5 it is exact.
struct Worked {
  Updates updates;
  std::vector<double> scales;
};
std::vector<Case> cases_of(const std::vector<Worked>& worked);
// By hand where the sequence was worked; as the reference has it in the drawn ones after them.
void expect_scales(const Together& runs, const std::vector<Worked>& worked);

// Updates that found inf with this probability.
std::vector<int> draw_flags(Random& random, size_t count, double overflow);

}  // namespace gradlab::loss_scaling_checks
