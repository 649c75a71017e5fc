#include "updates.hpp"

namespace gradlab::loss_scaling_checks {

Gradients scales(const std::vector<double>& values) {
  Gradients list;
  for (const double value : values) list.push_back(scalar(value));
  return list;
}

Gradients trackers(const std::vector<int64_t>& values) {
  Gradients list;
  for (const int64_t value : values) list.push_back(torch::full({}, value, torch::kInt64));
  return list;
}

std::vector<Case> cases_of(const std::vector<Worked>& worked) {
  std::vector<Case> cases;
  for (const auto& one : worked) cases.push_back(update_case(one.updates));
  return cases;
}

void expect_scales(const Together& runs, const std::vector<Worked>& worked) {
  size_t i = 0;
  for (const auto& run : runs) {
    const auto want = i < worked.size() ? scales(worked[i].scales) : run.want.tensors(kScales);
    EXPECT_THAT(run.got, Tensors(kScales, BitEqualTo(want)));
    ++i;
  }
}

std::vector<int> draw_flags(Random& random, size_t count, double overflow) {
  auto flags = clean(count);
  for (auto& flag : flags) flag = random.chance(overflow) ? 1 : 0;
  return flags;
}

}  // namespace gradlab::loss_scaling_checks
