// The drills' formulas beside the clipping lab's reference answer.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>
#include <memory>

#include "clipping.hpp"
#include "drills/formulas.hpp"
#include "drills/random.hpp"
#include "judge/implementations.hpp"

namespace gradlab::drills {
namespace {

const clipping::Impl& reference() {
  return *std::static_pointer_cast<const clipping::Impl>(implementations().reference);
}

struct Drawn {
  std::vector<double> gradient;  // of all parameters, one after the other
  std::vector<torch::Tensor> parameters;
};

Drawn drawn(Random& random) {
  Drawn drawn;
  const double size = std::pow(10, static_cast<double>(random.whole(-3, 3)));
  for (auto count = random.whole(1, 4); count > 0; --count) {
    std::vector<double> part(static_cast<std::size_t>(random.whole(1, 5)));
    for (double& g : part) g = size * static_cast<double>(random.whole(1, 1000)) / 1000;
    auto parameter = torch::zeros({static_cast<int64_t>(part.size())}, torch::kDouble);
    parameter.mutable_grad() = torch::tensor(part, torch::kDouble);
    drawn.parameters.push_back(parameter);
    drawn.gradient.insert(drawn.gradient.end(), part.begin(), part.end());
  }
  return drawn;
}

TEST(ClippingLab, has_the_norm_of_the_drills) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed_of(1, "norm", seed));
    const auto given = drawn(random);
    const double norm = reference().total_norm(given.parameters);
    EXPECT_NEAR(norm_of(given.gradient), norm, 1e-12 * norm) << "seed " << seed;
  }
}

TEST(ClippingLab, clips_and_returns_as_the_drills_say) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed_of(2, "clip", seed));
    const auto given = drawn(random);
    const double norm = norm_of(given.gradient);
    const double limit = norm * static_cast<double>(random.whole(1, 20)) / 10.5;
    EXPECT_NEAR(reference().clip_gradients(given.parameters, limit), norm, 1e-12 * norm);
    const auto want = scaled_by(given.gradient, clip_factor(norm, limit));
    std::size_t i = 0;
    for (const auto& parameter : given.parameters) {
      for (int64_t k = 0; k < parameter.numel(); ++k, ++i) {
        EXPECT_NEAR(parameter.grad()[k].item<double>(), want[i], 1e-9 * want[i]) << "seed " << seed;
      }
    }
  }
}

// The drill asks for the first step that is clipped: it is warmup_steps itself.
TEST(ClippingLab, clips_first_at_the_step_that_the_drill_asks_for) {
  for (std::int64_t warmup : {0, 1, 5, 400}) {
    std::int64_t first = 0;
    for (;; ++first) {
      Random random(1);
      if (reference().clip_after_warmup(drawn(random).parameters, 1, first, warmup)) break;
    }
    EXPECT_EQ(first, warmup);
  }
}

}  // namespace
}  // namespace gradlab::drills
