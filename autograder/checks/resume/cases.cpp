#include "cases.hpp"

#include <algorithm>
#include <cmath>

#include "judge/shrink.hpp"

namespace gradlab::resume_checks {
namespace {

torch::Tensor draw_eighths(Random& random, torch::IntArrayRef shape, int64_t low, int64_t high) {
  auto values = torch::empty(shape, torch::kFloat32);
  float* data = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    data[i] = static_cast<float>(random.integer(low, high)) / 8;
    if (random.chance(0.5)) data[i] = -data[i];
  }
  return values;
}

bool fits_together(const Case& in) {
  const auto& weights = in.tensors("weights");
  const auto& inputs = in.tensors("inputs");
  const auto& targets = in.tensors("targets");
  if (weights.empty() || inputs.empty() || inputs.size() != targets.size()) return false;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].dim() != 2 || weights[i].numel() == 0) return false;
    if (i > 0 && weights[i].size(1) != weights[i - 1].size(0)) return false;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size(0) != weights.front().size(1)) return false;
    if (targets[i].size(0) != weights.back().size(0)) return false;
  }
  return true;
}

// A case may be made smaller for display while its shapes fit and its factors are a scaler's.
bool decided_by_the_contract(const Case& in) {
  return fits_together(in) && in.number("growth_factor") > 1 && in.number("backoff_factor") > 0 &&
         in.number("backoff_factor") < 1;
}

[[maybe_unused]] const bool kBounds = shrink_only_to(decided_by_the_contract);

}  // namespace

Case draw_run(Random& random, const Plan& plan) {
  const int64_t width = 2;
  Case in;
  if (plan.two_layers) in.add("weights", draw_eighths(random, {2, width}, 2, 8));
  in.add("weights", draw_eighths(random, {1, width}, 2, 8));
  for (int i = 0; i < plan.examples; ++i) {
    in.add("inputs", draw_eighths(random, {width}, 2, 8));
    in.add("targets", draw_eighths(random, {1}, 28, 40));
  }
  if (plan.has_bad) {
    auto targets = in.tensors("targets");
    targets.at(static_cast<size_t>(random.integer(0, plan.examples - 1))).fill_(kFar);
  }
  if (!plan.part.empty()) in.word("part", plan.part);
  return in.word("into", plan.into_used ? "a used trainer" : "a new trainer")
      .word("saved_by", plan.by_another_process ? "another process" : "this process")
      .number("growth_factor", 2)
      .number("backoff_factor", 0.5)
      .integer("init_scale", plan.init_scale)
      .integer("growth_interval", plan.growth_interval)
      .integer("window", plan.window)
      .integer("seed", random.integer(1, 1 << 20))
      .integer("calls", plan.calls)
      .integer("cut", plan.cut);
}

Case draw_forty_steps(Random& random, const Plan& plan) {
  constexpr int64_t kCalls = 80, kCut = 41;
  auto in = draw_run(random, {.part = plan.part,
                              .calls = kCalls,
                              .cut = kCut,
                              .examples = 5,
                              .two_layers = true,
                              .by_another_process = plan.by_another_process});
  // Of the last epoch before the cut the second or the fourth is the bad one, so that the tracker
  // is at 1; and it is not in the window that is cut, which a check of task 4 sees to.
  const auto in_the_window = example_of(in, 20);
  make_bad(in, example_of(in, 16) == in_the_window ? example_of(in, 18) : example_of(in, 16));
  return in;
}

int64_t example_of(const Case& in, int64_t micro_batch) {
  resume::DataOrder order{std::mt19937_64(static_cast<uint64_t>(in.integer("seed"))), {}, 0};
  const auto examples = static_cast<int64_t>(in.tensors("targets").size());
  for (int64_t i = 0; i < micro_batch; ++i) order.next(examples);
  return order.next(examples);
}

void make_bad(Case& in, int64_t example) {
  auto targets = in.tensors("targets");
  targets.at(static_cast<size_t>(example)) = torch::full({1}, kFar);
  in.set("targets", targets);
}

Names everything() {
  return {"example", "loss", "weights", "scale", "tracker", "steps", "gathered"};
}

namespace {
void expect(const Together& runs, const Names& lists, const std::string& ending) {
  for (const auto& run : runs) {
    for (const auto& what : lists) {
      const auto& expected = run.want.tensors(what + ending);
      EXPECT_THAT(run.got, Tensors(what + "_after_calls", BitEqualTo(expected)));
    }
  }
}
}  // namespace

void expect_reference(const Together& runs, const Names& lists) {
  expect(runs, lists, "_after_calls");
}

void expect_uninterrupted(const Together& runs) { expect(runs, everything(), "_without_a_cut"); }

}  // namespace gradlab::resume_checks
