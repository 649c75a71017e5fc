// The judge of orders beside a step that is really run, in numbers: every permutation of the calls
// is right for the one exactly where it is right for the other.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "drills/step_model.hpp"

namespace gradlab::drills {

void PrintTo(const StepPlan& plan, std::ostream* out) { *out << plan.name; }

namespace {

using Does = Call::Does;

// One weight an optimizer, gradients that grow with it, SGD, a limit of 1, a scale that doubles
// with each update. What can be seen from outside: weights, learning rate, the scales read, the
// scale.
class Training {
 public:
  explicit Training(const StepPlan& plan) : plan_(plan) {}

  std::vector<double> after(const std::vector<int>& order, int iterations) {
    for (int i = 0; i < iterations; ++i) {
      iteration_ = i;
      seen_.clear();
      for (const int index : order) run(plan_.calls[static_cast<std::size_t>(index)]);
      if (std::any_of(optimizers_.begin(), optimizers_.end(),
                      [](const auto& each) { return each.second.stage == 2; })) {
        throw std::runtime_error("no update");
      }
    }
    std::vector<double> all = read_;
    for (const auto& [name, each] : optimizers_) all.push_back(each.weight);
    all.push_back(rate_);
    all.push_back(scale_);
    return all;
  }

 private:
  struct Optimizer {
    double weight = 1, gradient = 0;
    bool has_gradient = false;
    int stage = 0;  // ready, unscaled, stepped
  };

  double input(int part) const { return 1.5 + part + 0.37 * iteration_ + 0.11 * part * iteration_; }

  void run(const Call& call) {
    auto& mine = optimizers_[call.optimizer];
    switch (call.does) {
      case Does::kZeroGrad:
        for (auto& [name, each] : optimizers_) {
          each.gradient = 0;
          each.has_gradient = false;
        }
        break;
      case Does::kForward:
        loss_ = {iteration_, mine.weight};
        break;
      case Does::kBackward: {
        const bool apart =
            std::any_of(plan_.calls.begin(), plan_.calls.end(),
                        [](const Call& each) { return each.does == Does::kForward; });
        if (apart && loss_.first != iteration_) throw std::runtime_error("no loss");
        const double weight = apart ? loss_.second : mine.weight;
        mine.gradient += 2 * weight * input(call.part) * (plan_.scaled ? scale_ : 1);
        mine.has_gradient = true;
        break;
      }
      case Does::kUnscale:
        unscale(mine);
        break;
      case Does::kClip:
        clip(mine);
        break;
      case Does::kUnscaleAndClip:
        unscale(mine);
        clip(mine);
        break;
      case Does::kStep:
        if (plan_.scaled && mine.stage == 2) throw std::runtime_error("stepped already");
        if (!mine.has_gradient) throw std::runtime_error("no gradient");
        if (plan_.scaled && mine.stage == 0) unscale(mine);
        mine.weight -= rate_ * mine.gradient;
        mine.stage = plan_.scaled ? 2 : 0;
        seen_[call.optimizer] = true;
        break;
      case Does::kUpdate: {
        bool checked = false;
        for (auto& [name, each] : optimizers_) {
          checked = checked || each.stage > 0;
          each.stage = 0;
        }
        if (!checked) throw std::runtime_error("no inf checks");
        scale_ *= 2;
        break;
      }
      case Does::kSchedule:
        if (!seen_[call.optimizer]) throw std::runtime_error("`stepped` is not there yet");
        rate_ *= 0.9;
        break;
      case Does::kReadScale:
        read_.push_back(scale_);
        break;
    }
  }

  void unscale(Optimizer& mine) {
    if (mine.stage != 0) throw std::runtime_error("unscaled already");
    mine.gradient /= scale_;
    mine.stage = 1;
  }

  static void clip(Optimizer& mine) {
    mine.gradient *= std::min(1.0, 1 / (std::abs(mine.gradient) + 1e-6));
  }

  const StepPlan& plan_;
  std::map<int, Optimizer> optimizers_;
  std::map<int, bool> seen_;
  std::pair<int, double> loss_ = {-1, 0};
  std::vector<double> read_;
  double rate_ = 0.05, scale_ = 8;
  int iteration_ = 0;
};

bool runs_as(const StepPlan& plan, const std::vector<int>& order,
             const std::vector<double>& right) {
  try {
    const auto got = Training(plan).after(order, 3);
    return std::equal(got.begin(), got.end(), right.begin(), right.end(),
                      [](double a, double b) { return std::abs(a - b) < 1e-9; });
  } catch (const std::runtime_error&) {
    return false;
  }
}

class EachPlan : public testing::TestWithParam<StepPlan> {};

TEST_P(EachPlan, judges_each_permutation_as_a_run_does) {
  const auto& plan = GetParam();
  std::vector<int> order(plan.calls.size());
  std::iota(order.begin(), order.end(), 0);
  const auto right = Training(plan).after(order, 3);
  int good = 0, count = 0;
  do {
    const auto mistake = mistake_in(plan, order);
    ASSERT_EQ(mistake.empty(), runs_as(plan, order, right))
        << testing::PrintToString(order) << ": " << mistake;
    good += mistake.empty() ? 1 : 0;
    ++count;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_GE(good, 2);  // zero_grad may come first or last, at the least
  EXPECT_LT(good, count / 20);
}

INSTANTIATE_TEST_SUITE_P(All, EachPlan, testing::ValuesIn(step_plans()), [](const auto& param) {
  return param.param.name.substr(param.param.name.find('.') + 1);
});

TEST(Orders, a_mistake_is_named) {
  const auto plan = step_plans().front();  // zero, forward, backward, unscale, clip, step, update
  EXPECT_THAT(mistake_in(plan, {0, 1, 2, 4, 3, 5, 6}), testing::HasSubstr("scaled gradients"));
  EXPECT_THAT(mistake_in(plan, {0, 1, 2, 3, 4, 6, 5}),
              testing::HasSubstr("before every optimizer"));
  EXPECT_THAT(mistake_in(plan, {0, 1, 2, 3, 5, 4, 6}),
              testing::HasSubstr("before the gradients are"));
  EXPECT_THAT(mistake_in(plan, {1, 2, 3, 4, 0, 5, 6}), testing::HasSubstr("clears gradients"));
  EXPECT_THAT(mistake_in(plan, {0, 2, 1, 3, 4, 5, 6}),
              testing::HasSubstr("before there is a loss"));
}

}  // namespace
}  // namespace gradlab::drills
