// GradScaler beyond golden data: what it refuses and how, the view for tools, the opt-in
// extensions.
#include "gradlab/amp/grad_scaler.hpp"

#include <torch/nn/modules/linear.h>
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

template <typename CallT>
std::string message(const CallT& call) {
  try {
    call();
    return "";
  } catch (const gradlab::amp::Error& error) {
    return error.what();
  }
}

// ---- options

struct BadOption {
  const char* name;
  void (*spoil)(GradScalerOptions&);
  const char* kind;
  const char* words;
};

void PrintTo(const BadOption& bad, std::ostream* out) { *out << bad.name; }

class GradScalerRefuses : public testing::TestWithParam<BadOption> {};

TEST_P(GradScalerRefuses, bad_options_unless_disabled) {
  GradScalerOptions options;
  GetParam().spoil(options);
  const auto make = [&] { const GradScaler scaler(options); };
  EXPECT_EQ(error_kind(make), GetParam().kind);
  EXPECT_NE(message(make).find(GetParam().words), std::string::npos) << message(make);
  options.enabled = false;
  EXPECT_EQ(error_kind(make), "");
}

using O = GradScalerOptions&;
INSTANTIATE_TEST_SUITE_P(
    Options, GradScalerRefuses,
    testing::Values(
        BadOption{"growth 1", [](O o) { o.growth_factor = 1; }, "bad_growth_factor", "was 1"},
        BadOption{"growth NaN", [](O o) { o.growth_factor = kNaN; }, "bad_growth_factor", "nan"},
        BadOption{"growth inf", [](O o) { o.growth_factor = kInf; }, "bad_growth_factor", "inf"},
        BadOption{"backoff 1", [](O o) { o.backoff_factor = 1; }, "bad_backoff_factor", "was 1"},
        BadOption{"backoff 0", [](O o) { o.backoff_factor = 0; }, "bad_backoff_factor", "was 0"},
        BadOption{"backoff NaN", [](O o) { o.backoff_factor = kNaN; }, "bad_backoff_factor", "nan"},
        BadOption{"scale 0", [](O o) { o.init_scale = 0; }, "bad_init_scale", "was 0"},
        BadOption{"scale -1", [](O o) { o.init_scale = -1; }, "bad_init_scale", "was -1"},
        BadOption{"scale NaN", [](O o) { o.init_scale = kNaN; }, "bad_init_scale", "nan"},
        BadOption{"scale 1e39", [](O o) { o.init_scale = 1e39; }, "bad_init_scale", "1e+39"},
        BadOption{"scale 1e-50", [](O o) { o.init_scale = 1e-50; }, "bad_init_scale", "1e-50"},
        BadOption{"interval -1", [](O o) { o.growth_interval = -1; }, "bad_growth_interval", "-1"},
        BadOption{"interval 2^31", [](O o) { o.growth_interval = int64_t{1} << 31; },
                  "bad_growth_interval", "2147483648"},
        BadOption{"floor 0", [](O o) { o.min_scale = 0; }, "bad_option", "min_scale was 0"},
        BadOption{"floor above", [](O o) { o.min_scale = 1e6; }, "bad_option", "init_scale"},
        BadOption{"skips 0", [](O o) { o.max_skips_in_a_row = 0; }, "bad_option",
                  "max_skips_in_a_row was 0"}));

TEST(GradScalerTest, setters_refuse_what_the_constructor_refuses) {
  GradScaler scaler;
  EXPECT_EQ(error_kind([&] { scaler.set_growth_factor(0.5); }), "bad_growth_factor");
  EXPECT_EQ(error_kind([&] { scaler.set_backoff_factor(2); }), "bad_backoff_factor");
  EXPECT_EQ(error_kind([&] { scaler.set_growth_interval(-1); }), "bad_growth_interval");
  EXPECT_EQ(scaler.get_growth_factor(), 2);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.5);
  EXPECT_EQ(scaler.get_growth_interval(), 2000);
}

TEST(GradScalerTest, refuses_a_device_that_is_not_there) {
  if (at::hasCUDA()) GTEST_SKIP() << "this machine has CUDA";
  GradScalerOptions options;
  options.device = torch::kCUDA;
  EXPECT_EQ(error_kind([&] { const GradScaler scaler(options); }), "wrong_device");
}

TEST(GradScalerTest, refuses_losses_of_another_device) {
  GradScalerOptions options;
  options.device = torch::kCPU;
  GradScaler scaler(options);
  const auto loss = torch::ones({}, torch::kMeta);
  EXPECT_EQ(error_kind([&] { scaler.scale(loss); }), "wrong_device");
  EXPECT_FALSE(scaler.is_initialised());
}

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

// ---- gradients that unscale_ refuses, with everything as before

struct BadGradient {
  const char* name;
  torch::Tensor (*make)();
  const char* kind;
};

void PrintTo(const BadGradient& bad, std::ostream* out) { *out << bad.name; }

class UnscaleRefuses : public testing::TestWithParam<BadGradient> {};

TEST_P(UnscaleRefuses, and_leaves_gradients_and_stage_as_they_were) {
  GradScaler scaler(with_scale(8));
  scaler.scale(torch::ones({}));
  const auto good = with_gradient({8, 16});
  const auto bad = with_gradient(GetParam().make());
  SGD optimizer({torch::optim::OptimizerParamGroup({good}),
                 torch::optim::OptimizerParamGroup({torch::zeros({1}), bad})},
                SGDOptions(1.0));
  const std::vector<std::pair<std::string, torch::Tensor>> names = {{"head.weight", bad}};
  scaler.name_parameters(names);
  const auto call = [&] { scaler.unscale_(optimizer); };
  EXPECT_EQ(error_kind(call), GetParam().kind);
  EXPECT_NE(message(call).find("parameter 1 of group 1 (head.weight)"), std::string::npos)
      << message(call);
  EXPECT_EQ(scaler.view(optimizer).stage, Stage::kReady);
  EXPECT_TRUE(golden::bit_equal(good.grad(), torch::tensor({8.0F, 16.0F})));
  EXPECT_EQ(error_kind([&] { scaler.step(optimizer); }), GetParam().kind);
}

INSTANTIATE_TEST_SUITE_P(
    Gradients, UnscaleRefuses,
    testing::Values(
        BadGradient{"float16", [] { return torch::ones({2}).to(torch::kHalf); }, "fp16_gradients"},
        BadGradient{"int64", [] { return torch::ones({2}, torch::kLong); }, "integer_gradients"},
        BadGradient{"complex", [] { return torch::ones({2}, torch::kComplexFloat); },
                    "complex_gradients"},
        BadGradient{"expanded", [] { return torch::ones({1}).expand({2}); },
                    "overlapping_memory"}));

TEST(GradScalerTest, parameters_are_named_after_a_module) {
  torch::nn::Linear layer(2, 1);
  layer->bias.mutable_grad() = torch::ones({1}).to(torch::kHalf);
  layer->bias.set_data(layer->bias.to(torch::kHalf));
  layer->bias.mutable_grad() = torch::ones({1}).to(torch::kHalf);
  SGD optimizer(layer->parameters(), SGDOptions(1.0));
  GradScaler scaler;
  scaler.scale(torch::ones({}));
  scaler.name_parameters(layer->named_parameters());
  const auto text = message([&] { scaler.unscale_(optimizer); });
  EXPECT_NE(text.find("parameter 1 of group 0 (bias) is float16 [1] on cpu"), std::string::npos)
      << text;
}

TEST(GradScalerTest, float16_gradients_are_taken_where_asked_for) {
  auto options = with_scale(8);
  options.allow_float16_gradients = true;
  GradScaler scaler(options);
  scaler.scale(torch::ones({}));
  const auto parameter = with_gradient({8, 16}, torch::kHalf);
  SGD optimizer({parameter}, SGDOptions(1.0));
  scaler.unscale_(optimizer);
  EXPECT_EQ(parameter.grad()[1].item<float>(), 2);
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
