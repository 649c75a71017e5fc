// The drills' formulas beside the loss_scaling lab's reference answer.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>
#include <memory>

#include "drills/formulas.hpp"
#include "drills/random.hpp"
#include "judge/implementations.hpp"
#include "loss_scaling.hpp"

namespace gradlab::drills {
namespace {

const loss_scaling::Impl& reference() {
  return *std::static_pointer_cast<const loss_scaling::Impl>(implementations().reference);
}

TEST(ScalingLab, moves_the_scale_as_the_drills_do) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed_of(1, "scale", seed));
    Scaler mine;
    loss_scaling::LossScale state;
    mine.scale = std::ldexp(1, static_cast<int>(random.whole(0, 127)));
    mine.interval = state.growth_interval = random.whole(1, 5);
    state.scale = static_cast<float>(mine.scale);
    for (int step = 0; step < 40; ++step) {
      const bool overflow = random.whole(0, 3) == 0;
      mine.update(overflow);
      reference().update_scale(state, overflow);
      ASSERT_EQ(mine.scale, state.scale) << "seed " << seed << ", step " << step;
      ASSERT_EQ(mine.tracker, state.growth_tracker) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(ScalingLab, saves_a_gradient_with_the_scale_of_the_drills) {
  for (int seed = 0; seed < 400; ++seed) {
    Random random(seed_of(2, "save", seed));
    const double gradient = std::pow(10, static_cast<double>(random.whole(-15, 3))) *
                            static_cast<double>(random.whole(1, 9));
    const auto tensor = torch::tensor({static_cast<float>(gradient)});
    const double exact = tensor.item<double>();
    EXPECT_EQ(smallest_scale(exact), reference().smallest_saving_scale({tensor})) << gradient;
    EXPECT_EQ(reference().count_underflow({tensor}, smallest_scale(exact)), 0) << gradient;
    EXPECT_EQ(reference().count_underflow({tensor}, smallest_scale(exact) / 2), 1) << gradient;
  }
}

TEST(ScalingLab, unscales_as_the_drills_do) {
  for (int seed = 0; seed < 100; ++seed) {
    Random random(seed_of(3, "unscale", seed));
    const double scale = std::ldexp(1, static_cast<int>(random.whole(3, 16)));
    const auto gradient = static_cast<float>(random.whole(1, 100)) / 8;
    auto parameter = torch::zeros({1});
    parameter.mutable_grad() = torch::tensor({gradient * static_cast<float>(scale)});
    bool found = false;
    reference().unscale_gradients({{parameter}}, scale, found);
    EXPECT_FALSE(found);
    EXPECT_EQ(parameter.grad().item<float>(), gradient);
  }
}

}  // namespace
}  // namespace gradlab::drills
