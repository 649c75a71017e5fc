// GradScaler beyond golden data: what it refuses and how, the view for tools, the opt-in
// extensions.
#include "gradlab/amp/grad_scaler.hpp"

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <type_traits>

#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::kInf;
using amp_test::kNaN;
using amp_test::with_gradient;
using golden::error_kind;
using gradlab::amp::GradScaler;
using gradlab::amp::GradScalerOptions;
using gradlab::amp::Stage;
using torch::optim::SGD;
using torch::optim::SGDOptions;

static_assert(!std::is_copy_constructible_v<GradScaler>);
static_assert(std::is_nothrow_move_constructible_v<GradScaler>);

GradScalerOptions with_scale(double scale) {
  GradScalerOptions options;
  options.init_scale = scale;
  return options;
}

// A scaler in use, and an optimizer over one parameter.
struct Loop {
  GradScaler scaler;
  torch::Tensor parameter = with_gradient({8, 16});
  SGD optimizer{{parameter}, SGDOptions(1.0)};

  explicit Loop(const GradScalerOptions& options = with_scale(8)) : scaler(options) {
    scaler.scale(torch::ones({}));
  }
  // One iteration whose scaled gradients are `value`.
  bool iterate(double value) {
    parameter.grad().fill_(value);
    const bool stepped = scaler.step(optimizer);
    scaler.update();
    return stepped;
  }
};

// ---- scale

TEST(GradScalerTest, scale_refuses_undefined_tensors) {
  GradScaler scaler;
  EXPECT_EQ(error_kind([&] { scaler.scale(torch::Tensor()); }), "bad_scale_argument");
  const std::vector<torch::Tensor> list = {torch::ones({}), torch::Tensor()};
  EXPECT_EQ(error_kind([&] { scaler.scale(list); }), "bad_scale_argument");
  EXPECT_FALSE(scaler.is_initialised());
}

TEST(GradScalerTest, disabled_hands_the_same_tensor_through) {
  GradScalerOptions options;
  options.enabled = false;
  GradScaler scaler(options);
  const auto loss = torch::ones({});
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  EXPECT_TRUE(scaler.scale({loss, loss})[1].is_same(loss));
}

// ---- update

TEST(GradScalerTest, new_scale_takes_pythons_numbers_and_strict_does_not) {
  for (const bool strict : {false, true}) {
    auto options = with_scale(8);
    options.strict = strict;
    Loop loop(options);
    for (const double value : {kInf, 0.0, -1.0, 1e300}) {
      EXPECT_EQ(error_kind([&] { loop.scaler.update(value); }), strict ? "bad_new_scale" : "");
      EXPECT_EQ(error_kind([&] { loop.scaler.update(torch::tensor(static_cast<float>(-1))); }),
                strict ? "bad_new_scale" : "");
    }
    EXPECT_EQ(loop.scaler.get_scale(), strict ? 8 : -1);
  }
}

TEST(GradScalerTest, new_scale_tensors_that_do_not_fit) {
  Loop loop;
  const auto kind = [&](const torch::Tensor& value) {
    return error_kind([&] { loop.scaler.update(value); });
  };
  EXPECT_EQ(kind(torch::Tensor()), "bad_new_scale");
  EXPECT_EQ(kind(torch::ones({}).set_requires_grad(true)), "bad_new_scale");
  EXPECT_EQ(kind(torch::ones({}, torch::kMeta)), "bad_new_scale");
  EXPECT_EQ(kind(torch::ones({1})), "broadcast");
  EXPECT_EQ(loop.scaler.get_scale(), 8);
}

// ---- the view

TEST(GradScalerView, tells_stage_found_inf_and_skips_of_each_optimizer) {
  Loop loop;
  const auto other_parameter = with_gradient({1});
  SGD other({other_parameter}, SGDOptions(1.0));
  EXPECT_EQ(loop.scaler.view(other).last_found_inf, std::nullopt);

  loop.parameter.grad().fill_(kInf);
  loop.scaler.unscale_(loop.optimizer);
  EXPECT_EQ(loop.scaler.view(loop.optimizer).stage, Stage::kUnscaled);
  EXPECT_EQ(loop.scaler.view(loop.optimizer).found_inf, std::optional<bool>(true));
  EXPECT_FALSE(loop.scaler.step(loop.optimizer));
  EXPECT_TRUE(loop.scaler.step(other));
  loop.scaler.update();

  const auto skipped = loop.scaler.view(loop.optimizer), stepped = loop.scaler.view(other);
  EXPECT_EQ(skipped.stage, Stage::kReady);
  EXPECT_EQ(skipped.found_inf, std::nullopt);
  EXPECT_EQ(skipped.last_found_inf, std::optional<bool>(true));
  EXPECT_EQ(skipped.steps_skipped, 1);
  EXPECT_EQ(skipped.steps_taken, 0);
  EXPECT_EQ(stepped.last_found_inf, std::optional<bool>(false));
  EXPECT_EQ(stepped.steps_taken, 1);
  EXPECT_EQ(loop.scaler.steps_skipped(), 1);
}

TEST(GradScalerTest, a_moved_scaler_goes_on) {
  Loop loop;
  loop.iterate(kInf);
  GradScaler moved = std::move(loop.scaler);
  EXPECT_EQ(moved.get_scale(), 4);
  EXPECT_EQ(moved.steps_skipped(), 1);
}

// ---- extensions

TEST(GradScalerFloor, holds_the_scale_and_throws_where_it_overflows_again) {
  auto options = with_scale(8);
  options.min_scale = 3;
  Loop loop(options);
  EXPECT_FALSE(loop.iterate(kInf));
  EXPECT_EQ(loop.scaler.get_scale(), 4);
  EXPECT_FALSE(loop.iterate(kInf));
  EXPECT_EQ(loop.scaler.get_scale(), 3);
  EXPECT_EQ(error_kind([&] { loop.iterate(kInf); }), "scale_at_minimum");
  // The update was complete: a caller that goes on, can.
  EXPECT_EQ(loop.scaler.view(loop.optimizer).stage, Stage::kReady);
  EXPECT_EQ(loop.scaler.get_scale(), 3);
  EXPECT_TRUE(loop.iterate(1));
}

TEST(GradScalerSkips, end_after_so_many_in_a_row) {
  auto options = with_scale(1024);
  options.max_skips_in_a_row = 3;
  Loop loop(options);
  loop.iterate(kInf);
  loop.iterate(kNaN);
  loop.iterate(1);  // begins the count anew
  loop.iterate(kInf);
  loop.iterate(kInf);
  const auto third = [&] { loop.iterate(kInf); };
  EXPECT_EQ(error_kind(third), "too_many_skips");
  EXPECT_EQ(loop.scaler.view(loop.optimizer).stage, Stage::kReady);
}

TEST(GradScalerRecheck, skips_what_became_nan_after_unscale) {
  for (const bool recheck : {false, true}) {
    auto options = with_scale(8);
    options.recheck_after_unscale = recheck;
    Loop loop(options);
    loop.scaler.unscale_(loop.optimizer);
    EXPECT_TRUE(golden::bit_equal(loop.parameter.grad(), torch::tensor({1.0F, 2.0F})));
    loop.parameter.grad().fill_(kNaN);
    EXPECT_EQ(loop.scaler.step(loop.optimizer), !recheck);
    loop.scaler.update();
    EXPECT_EQ(loop.scaler.get_scale(), recheck ? 4 : 8);
  }
}

}  // namespace
