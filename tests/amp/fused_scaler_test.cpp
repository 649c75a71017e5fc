// unscale_and_clip_ as part of a loop: skips, stages, errors and events are the two calls'.
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include "gradlab/amp/amp.hpp"
#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::kInf;
using amp_test::kNaN;
using amp_test::with_gradient;
using golden::error_kind;
namespace amp = gradlab::amp;

// One side of a comparison: three parameters in two groups, one of them large.
struct Side {
  amp::GradScaler scaler;
  std::vector<torch::Tensor> parameters;
  std::unique_ptr<torch::optim::SGD> optimizer;
  bool one_pass;

  Side(bool one, const amp::GradScalerOptions& options) : scaler(options), one_pass(one) {
    for (const int64_t size : {3, 5000, 70}) {
      parameters.push_back(torch::zeros({size}).set_requires_grad(true));
    }
    optimizer = std::make_unique<torch::optim::SGD>(
        std::vector<torch::optim::OptimizerParamGroup>{
            torch::optim::OptimizerParamGroup({parameters[0], parameters[1]}),
            torch::optim::OptimizerParamGroup({parameters[2]})},
        torch::optim::SGDOptions(0.1).momentum(0.9));
  }

  void backward(uint64_t seed, double bad, int64_t place) {
    torch::manual_seed(seed);
    optimizer->zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (const auto& parameter : parameters) {
      auto gradient = torch::randn(parameter.sizes());
      if (bad != 0 && place < parameter.numel()) gradient[place] = bad;
      loss = loss + (parameter * gradient).sum();
    }
    scaler.scale(loss).backward();
  }

  torch::Tensor unscale_and_clip(double max_norm) {
    if (one_pass) return amp::unscale_and_clip_(scaler, *optimizer, max_norm);
    scaler.unscale_(*optimizer);
    return amp::clip_grad_norm_(amp::parameters_of(*optimizer), max_norm);
  }
};

void expect_equal(const Side& got, const Side& expected) {
  EXPECT_EQ(got.scaler.get_scale(), expected.scaler.get_scale());
  EXPECT_EQ(got.scaler.growth_tracker(), expected.scaler.growth_tracker());
  const auto a = got.scaler.view(*got.optimizer), b = expected.scaler.view(*expected.optimizer);
  EXPECT_EQ(a.stage, b.stage);
  EXPECT_EQ(a.found_inf, b.found_inf);
  EXPECT_EQ(a.last_found_inf, b.last_found_inf);
  EXPECT_EQ(a.steps_skipped, b.steps_skipped);
  for (size_t i = 0; i < got.parameters.size(); ++i) {
    EXPECT_TRUE(golden::close(got.parameters[i].grad(), expected.parameters[i].grad(), 1e-6, 0));
    // Momentum adds terms that may cancel.
    EXPECT_TRUE(golden::close(got.parameters[i], expected.parameters[i], 1e-5, 1e-7));
  }
}

TEST(UnscaleAndClip, goes_through_a_run_as_the_two_calls_do) {
  amp::GradScalerOptions options;
  options.init_scale = 3 * 1024;
  options.growth_interval = 3;
  Side one(true, options), two(false, options);
  const std::vector<double> bad = {0, 0, kInf, 0, kNaN, -kInf, 0, 0, 0, 0, kInf, 0};
  for (size_t step = 0; step < bad.size(); ++step) {
    SCOPED_TRACE(step);
    torch::Tensor norms[2];
    size_t number = 0;
    for (Side* side : {&one, &two}) {
      side->backward(step, bad[step], static_cast<int64_t>(step * 400));
      norms[number++] = side->unscale_and_clip(step % 3 == 0 ? 1e6 : 0.5);
    }
    EXPECT_TRUE(golden::close(norms[0], norms[1], 1e-6, 0));
    expect_equal(one, two);
    const bool stepped = one.scaler.step(*one.optimizer);
    EXPECT_EQ(stepped, two.scaler.step(*two.optimizer));
    EXPECT_EQ(stepped, bad[step] == 0 || step * 400 >= 5000);
    one.scaler.update();
    two.scaler.update();
    expect_equal(one, two);
  }
}

// Scales at which the product of reciprocal and coefficient leaves float32's range.
TEST(UnscaleAndClip, keeps_its_precision_at_extreme_scales) {
  for (const double scale : {1e38, 1e-37}) {
    amp::GradScalerOptions options;
    options.init_scale = scale;
    Side one(true, options);
    one.scaler.scale(torch::ones({}));
    for (const auto& parameter : one.parameters) {
      parameter.mutable_grad() = torch::full(parameter.sizes(), scale > 1 ? 1e38 : 1e-37);
    }
    const double norm = one.unscale_and_clip(1e-3).item<double>();
    const double expected = std::sqrt(5073.0);
    EXPECT_NEAR(norm, expected, 1e-4);
    EXPECT_NEAR(one.parameters[0].grad()[0].item<double>(), 1e-3 / expected, 1e-9);
  }
}

// A scale below 1 can make inf that Python does not notice; here it is clipped away instead.
TEST(UnscaleAndClip, gradients_that_overflow_when_unscaled_do_not_skip_either) {
  amp::GradScalerOptions options;
  options.init_scale = std::pow(2.0, -20);
  Side one(true, options);
  one.scaler.scale(torch::ones({}));
  for (const auto& parameter : one.parameters) {
    parameter.mutable_grad() = torch::full(parameter.sizes(), 1e35);
  }
  one.unscale_and_clip(1);
  EXPECT_EQ(one.scaler.view(*one.optimizer).found_inf, std::optional<bool>(false));
  EXPECT_NEAR(one.parameters[0].grad()[0].item<double>(), 1 / std::sqrt(5073.0), 1e-6);
}

TEST(UnscaleAndClip, at_scale_zero_makes_nan_as_the_two_calls_do) {
  for (const bool one_pass : {true, false}) {
    amp::GradScalerOptions options;
    Side side(one_pass, options);
    side.scaler.scale(torch::ones({}));
    side.scaler.update(0.0);
    for (const auto& parameter : side.parameters) {
      parameter.mutable_grad() = torch::zeros(parameter.sizes());
    }
    side.unscale_and_clip(1);
    EXPECT_TRUE(side.parameters[1].grad().isnan().all().item<bool>());
    EXPECT_TRUE(side.scaler.step(*side.optimizer));
  }
}

// ---- errors

TEST(UnscaleAndClip, throws_what_the_two_calls_throw) {
  for (const bool one_pass : {true, false}) {
    Side side(one_pass, {});
    const auto call = [&] { side.unscale_and_clip(1); };
    EXPECT_EQ(error_kind(call), "scale_not_initialised");
    side.backward(1, 0, 0);
    call();
    EXPECT_EQ(error_kind(call), "unscale_twice");
    side.scaler.step(*side.optimizer);
    EXPECT_EQ(error_kind(call), "unscale_after_step");
    side.scaler.update();
    side.optimizer->zero_grad();
    EXPECT_EQ(error_kind(call), "");
    EXPECT_EQ(side.scaler.view(*side.optimizer).stage, amp::Stage::kUnscaled);
    EXPECT_EQ(error_kind([&] { side.scaler.step(*side.optimizer); }),
              "no_inf_checks_for_optimizer");
  }
}

TEST(UnscaleAndClip, refuses_bad_gradients_with_everything_as_before) {
  const auto sparse =
      torch::sparse_coo_tensor(torch::tensor({{0}}, torch::kLong), torch::ones({1}), {2});
  const std::vector<std::pair<torch::Tensor, std::string>> bad = {
      {torch::ones({2}).to(torch::kHalf), "fp16_gradients"},
      {torch::ones({2}, torch::kLong), "integer_gradients"},
      {torch::ones({2}, torch::kComplexFloat), "complex_gradients"},
      {torch::ones({1}).expand({2}), "overlapping_memory"},
      {sparse, "unsupported_layout"}};
  for (const auto& [gradient, kind] : bad) {
    const auto good = with_gradient({8, 16});
    const auto other = torch::zeros({2}, gradient.scalar_type());
    other.mutable_grad() = gradient;
    torch::optim::SGD optimizer({good, other}, torch::optim::SGDOptions(0.1));
    amp::GradScaler scaler;
    scaler.scale(torch::ones({}));
    EXPECT_EQ(error_kind([&] { amp::unscale_and_clip_(scaler, optimizer, 1); }), kind);
    EXPECT_TRUE(golden::bit_equal(good.grad(), torch::tensor({8.0F, 16.0F})));
    EXPECT_EQ(scaler.view(optimizer).stage, amp::Stage::kReady);
  }
}

TEST(UnscaleAndClip, only_clips_where_the_scaler_is_disabled) {
  amp::GradScalerOptions options;
  options.enabled = false;
  amp::GradScaler scaler(options);
  const auto parameter = with_gradient({3, 4});
  torch::optim::SGD optimizer({parameter}, torch::optim::SGDOptions(0.1));
  EXPECT_EQ(amp::unscale_and_clip_(scaler, optimizer, 1).item<float>(), 5);
  EXPECT_NEAR(parameter.grad()[0].item<double>(), 0.6, 1e-6);
}

// ---- events

class Lines : public amp::Observer {
 public:
  void begin(const amp::Event& event) noexcept override { add("(", event); }
  void end(const amp::Event& event) noexcept override { add(event.failed ? "!" : ")", event); }
  std::vector<std::string> all;

 private:
  void add(const char* mark, const amp::Event& event) {
    all.push_back(mark + std::string(amp::name(event.call)) +
                  (event.total_norm.defined() ? " with a norm" : "") +
                  (event.optimizer != nullptr ? " of an optimizer" : "") + " " +
                  std::to_string(event.limit) + " " + std::to_string(event.tensors.size()));
  }
};

TEST(UnscaleAndClip, reports_the_two_calls) {
  std::vector<std::string> seen[2];
  for (const bool one_pass : {true, false}) {
    Side side(one_pass, {});
    side.backward(1, 0, 0);
    Lines lines;
    const amp::ObserverScope scope(lines);
    side.unscale_and_clip(0.5);
    EXPECT_EQ(error_kind([&] { side.unscale_and_clip(0.5); }), "unscale_twice");
    seen[one_pass ? 1 : 0] = lines.all;
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0].size(), 10);
}

}  // namespace
