// The drills' formulas beside the AMP library and LibTorch, over many drawn inputs.
#include <gmock/gmock.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <cmath>
#include <gradlab/amp/amp.hpp>

#include "drills/formulas.hpp"
#include "drills/random.hpp"

namespace gradlab::drills {
namespace {

constexpr int kSeeds = 200;

torch::Tensor with_gradient(const std::vector<double>& gradient) {
  auto parameter = torch::zeros({static_cast<int64_t>(gradient.size())}, torch::kDouble);
  parameter.mutable_grad() = torch::tensor(gradient, torch::kDouble);
  return parameter;
}

std::vector<double> drawn(Random& random) {
  std::vector<double> gradient(static_cast<std::size_t>(random.whole(1, 6)));
  const double size = std::pow(10, static_cast<double>(random.whole(-7, 4)));
  for (double& g : gradient) g = size * static_cast<double>(random.whole(-1000, 1000)) / 1000;
  return gradient;
}

TEST(Formulas, clip_as_the_library_does) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Random random(seed_of(1, "clip", seed));
    const auto a = drawn(random), b = drawn(random);
    const double limit = std::pow(10, static_cast<double>(random.whole(-7, 2)));
    const std::vector<torch::Tensor> parameters = {with_gradient(a), with_gradient(b)};
    const double norm = amp::clip_grad_norm_(parameters, limit).item<double>();
    auto both = a;
    both.insert(both.end(), b.begin(), b.end());
    ASSERT_NEAR(norm_of(both), norm, 1e-12 * norm) << "seed " << seed;
    const auto clipped = scaled_by(both, clip_factor(norm_of(both), limit));
    const auto got = torch::cat({parameters[0].grad(), parameters[1].grad()});
    for (std::size_t i = 0; i < clipped.size(); ++i) {
      const auto want = got[static_cast<int64_t>(i)].item<double>();
      ASSERT_NEAR(clipped[i], want, 1e-9 * std::abs(want)) << "seed " << seed;
    }
  }
}

TEST(Formulas, hold_a_tensor_listed_twice_to_be_two) {
  const auto parameter = with_gradient({3, 4});
  EXPECT_NEAR(amp::get_total_norm({parameter.grad(), parameter.grad()}).item<double>(),
              norm_of({5, 5}), 1e-12);
}

TEST(Formulas, round_to_float16_as_libtorch_does) {
  for (int seed = 0; seed < 50 * kSeeds; ++seed) {
    Random random(seed_of(2, "half", seed));
    const double size = std::pow(2, static_cast<double>(random.whole(-27, 17)));
    const double value = size * static_cast<double>(random.whole(-4096, 4096)) / 2048;
    // From float32, as a gradient in a float16 backward is.
    const auto half = torch::tensor(static_cast<float>(value)).to(torch::kHalf).item<double>();
    ASSERT_EQ(as_half(value), half) << value;
  }
}

TEST(Formulas, move_the_scale_as_the_library_does) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Random random(seed_of(3, "scaler", seed));
    amp::GradScalerOptions options;
    Scaler mine;
    mine.scale = options.init_scale = std::ldexp(1, static_cast<int>(random.whole(0, 127)));
    mine.interval = options.growth_interval = random.whole(1, 5);
    amp::GradScaler scaler(options);
    auto weight = torch::ones({1}, torch::requires_grad());
    torch::optim::SGD optimizer({weight}, torch::optim::SGDOptions(0));
    for (int step = 0; step < 30; ++step) {
      const bool overflow = random.whole(0, 3) == 0;
      scaler.scale(torch::ones({}));
      weight.mutable_grad() = torch::full({1}, overflow ? INFINITY : 1.0F);
      ASSERT_EQ(scaler.step(optimizer), !overflow);
      scaler.update();
      mine.update(overflow);
      ASSERT_EQ(mine.scale, scaler.get_scale()) << "seed " << seed << ", step " << step;
      ASSERT_EQ(mine.tracker, scaler.growth_tracker()) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(Formulas, leave_a_scale_that_neither_overflows_nor_vanishes) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Random random(seed_of(4, "fits", seed));
    const double large = static_cast<double>(random.whole(1, 4000));
    const double most = largest_scale(large);
    const auto half = [](double x) {
      return torch::tensor(x, torch::kDouble).to(torch::kFloat).to(torch::kHalf).item<double>();
    };
    EXPECT_TRUE(std::isfinite(half(large * most)));
    EXPECT_TRUE(std::isinf(half(large * most * 2)));
    const double small = static_cast<double>(random.whole(1, 99)) * 1e-10;
    const double least = smallest_scale(small);
    EXPECT_NE(half(small * least), 0);
    EXPECT_EQ(half(small * least / 2), 0);
  }
}

// The run that the first steps are predicted of: Linear(in -> 1), weights 1, every x the same, y 0.
TEST(Formulas, predict_the_first_steps_of_a_float16_run) {
  for (int seed = 0; seed < 40; ++seed) {
    Random random(seed_of(5, "run", seed));
    const auto in = random.whole(2, 8), value = random.whole(3, 20);
    torch::nn::Linear model(torch::nn::LinearOptions(in, 1).bias(false));
    torch::nn::init::ones_(model->weight);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
    const auto x = torch::full({2, in}, static_cast<float>(value)), y = torch::zeros({2, 1});
    amp::GradScaler scaler;
    int skips = -1;
    for (bool stepped = false; !stepped; ++skips) {
      optimizer.zero_grad();
      torch::Tensor loss;
      {
        const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
        loss = torch::mse_loss(model(x), y);
      }
      scaler.scale(loss).backward();
      stepped = scaler.step(optimizer);
      scaler.update();
    }
    Scaler mine;
    const double gradient = 2.0 * static_cast<double>(in) * static_cast<double>(value * value);
    EXPECT_EQ(skips_until_it_fits(gradient, mine), skips) << in << " x " << value;
    EXPECT_EQ(mine.scale, scaler.get_scale()) << in << " x " << value;
  }
}

}  // namespace
}  // namespace gradlab::drills
