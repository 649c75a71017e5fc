// What GradScaler refuses: options, and gradients, naming them and leaving everything as it was.
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include "gradlab/amp/grad_scaler.hpp"
#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::kInf;
using amp_test::kNaN;
using amp_test::with_gradient;
using golden::error_kind;
using golden::error_message;
using gradlab::amp::GradScaler;
using gradlab::amp::GradScalerOptions;
using gradlab::amp::Stage;
using torch::optim::SGD;
using torch::optim::SGDOptions;

GradScalerOptions eight() {
  GradScalerOptions options;
  options.init_scale = 8;
  return options;
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
  EXPECT_NE(error_message(make).find(GetParam().words), std::string::npos) << error_message(make);
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

// ---- gradients that unscale_ refuses, with everything as before

struct BadGradient {
  const char* name;
  torch::Tensor (*make)();
  const char* kind;
};

void PrintTo(const BadGradient& bad, std::ostream* out) { *out << bad.name; }

class UnscaleRefuses : public testing::TestWithParam<BadGradient> {};

TEST_P(UnscaleRefuses, and_leaves_gradients_and_stage_as_they_were) {
  GradScaler scaler(eight());
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
  EXPECT_NE(error_message(call).find("parameter 1 of group 1 (head.weight)"), std::string::npos)
      << error_message(call);
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
  const auto text = error_message([&] { scaler.unscale_(optimizer); });
  EXPECT_NE(text.find("parameter 1 of group 0 (bias) is float16 [1] on cpu"), std::string::npos)
      << text;
}

TEST(GradScalerTest, float16_gradients_are_taken_where_asked_for) {
  auto options = eight();
  options.allow_float16_gradients = true;
  GradScaler scaler(options);
  scaler.scale(torch::ones({}));
  const auto parameter = with_gradient({8, 16}, torch::kHalf);
  SGD optimizer({parameter}, SGDOptions(1.0));
  scaler.unscale_(optimizer);
  EXPECT_EQ(parameter.grad()[1].item<float>(), 2);
}

}  // namespace
