// 30 optimizer steps with autocast, scaler and clipping, held to Python's
// (golden/autocast/traces.json): every loss, scale, skip, norm and weight. And the run that can be
// derived by hand.
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include "gradlab/amp/autocast.hpp"
#include "gradlab/amp/clip.hpp"
#include "gradlab/amp/grad_scaler.hpp"
#include "support/golden.hpp"
#include "support/scaler_player.hpp"

namespace {

using golden::Json;
using gradlab::amp::AutocastGuard;
using gradlab::amp::GradScaler;

class TracePlayer {
 public:
  explicit TracePlayer(const Json& body)
      : body_(body), scaler_(golden::scaler_options_of(body.at("scaler"))) {
    size_t number = 0;
    for (const Json& layer : body.at("layers")) {
      weights_.push_back(parameter("w" + std::to_string(number), layer.at("weight")));
      biases_.push_back(parameter("b" + std::to_string(number), layer.at("bias")));
      ++number;
    }
    optimizer_ = golden::optimizer_of(body.at("optimizer"), parameters_);
  }

  void step(const Json& expected) {
    const double used = scaler_.get_scale();
    optimizer_->zero_grad();
    const auto losses = backward(expected.at("step").get<size_t>());
    torch::Tensor norm;
    if (body_.at("explicit_unscale") || !body_.at("max_norm").is_null()) {
      scaler_.unscale_(*optimizer_);
    }
    if (!body_.at("max_norm").is_null()) {
      norm = gradlab::amp::clip_grad_norm_(gradlab::amp::parameters_of(*optimizer_),
                                           golden::number(body_.at("max_norm")));
    }
    const bool stepped = scaler_.step(*optimizer_);
    scaler_.update();

    EXPECT_EQ(used, golden::number(expected.at("scale_used")));
    EXPECT_EQ(!stepped, expected.at("skipped").get<bool>());
    EXPECT_EQ(scaler_.get_scale(), golden::number(expected.at("scale_after")));
    EXPECT_EQ(scaler_.growth_tracker(), expected.at("growth_tracker_after").get<int64_t>());
    EXPECT_EQ(norm.defined(), !expected.at("norm_before_clip").is_null());
    if (norm.defined()) expect(norm, Json::array({expected.at("norm_before_clip")}), "norm");
    for (size_t i = 0; i < losses.size(); ++i) {
      expect(losses[i], Json::array({expected.at("losses").at(i)}), "loss");
    }
    for (const auto& [name, value] : expected.at("params_after").items()) {
      expect(parameters_.at(name), value, name);
    }
  }

 private:
  torch::Tensor parameter(const std::string& name, const Json& value) {
    if (value.is_null()) return {};
    return parameters_[name] = golden::tensor(value).clone().set_requires_grad(true);
  }

  torch::Tensor forward(const torch::Tensor& x) const {
    torch::Tensor h = x;
    for (size_t i = 0; i < weights_.size(); ++i) {
      h = torch::linear(h, weights_[i], biases_[i]);
      if (i + 1 < weights_.size()) h = torch::relu(h);
    }
    return h;
  }

  // The micro-batches of one step.
  std::vector<torch::Tensor> backward(size_t step) {
    const size_t count = body_.at("accumulate");
    const bool cross_entropy = body_.at("loss") == "cross_entropy";
    std::vector<torch::Tensor> losses;
    for (size_t i = 0; i < count; ++i) {
      const Json& batch =
          body_.at("batches").at(body_.at("schedule").at(step * count + i).get<size_t>());
      const auto x = golden::tensor(batch.at("x")), y = golden::tensor(batch.at("y"));
      torch::Tensor loss;
      {
        const Json& autocast = body_.at("autocast");
        const AutocastGuard guard(torch::kCPU, golden::dtype(autocast.at("dtype")),
                                  autocast.at("enabled").get<bool>());
        const auto out = forward(x);
        loss = cross_entropy ? torch::cross_entropy_loss(out, y) : torch::mse_loss(out, y);
        loss = loss / static_cast<int64_t>(count);
        const Json& recorded = body_.at("steps").at(step);
        EXPECT_EQ(golden::dtype_name(out.scalar_type()),
                  recorded.at("output_dtype").get<std::string>());
        EXPECT_EQ(golden::dtype_name(loss.scalar_type()),
                  recorded.at("loss_dtype").get<std::string>());
      }
      scaler_.scale(loss).backward();
      losses.push_back(loss.detach());
    }
    return losses;
  }

  void expect(const torch::Tensor& got, const Json& data, const std::string& what) const {
    const auto expected = golden::flat(data, got);
    const bool float32 = !body_.at("autocast").at("enabled").get<bool>();
    const bool bfloat16 = body_.at("autocast").at("dtype") == "bfloat16";
    const double relative = bfloat16 ? 1e-2 : 1e-3, absolute = bfloat16 ? 1e-3 : 2e-5;
    if (body_.at("optimizer").at("type") != "sgd") {
      // LibTorch's AdamW rounds differently from Python's.
      EXPECT_TRUE(golden::close(got, expected, relative, absolute)) << what;
    } else if (float32) {
      // The order of summation in a float32 product is the BLAS's choice by processor: 8 ulp of the
      // value, and of the terms (about 1) where they cancel.
      constexpr double kUlp = 1.2e-7;
      EXPECT_TRUE(golden::close(got, expected, 8 * kUlp, 8 * kUlp)) << what;
    } else {
      EXPECT_TRUE(golden::as_recorded(got, expected, relative, absolute)) << what;
    }
  }

  const Json& body_;
  GradScaler scaler_;
  std::map<std::string, torch::Tensor> parameters_;
  std::vector<torch::Tensor> weights_, biases_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

class Traces : public testing::TestWithParam<golden::Case> {};

TEST_P(Traces, every_loss_scale_skip_norm_and_weight_is_pythons) {
  const Json& body = GetParam().body;
  TracePlayer player(body);
  ASSERT_EQ(body.at("steps").size(),
            body.at("schedule").size() / body.at("accumulate").get<size_t>());
  for (const Json& step : body.at("steps")) {
    SCOPED_TRACE("step " + step.at("step").dump());
    player.step(step);
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Traces, testing::ValuesIn(golden::cases("autocast/traces.json")),
                         golden::test_name);

// The gradient of each weight is 800 times the scale at the start, so a float16 product can hold it
// from scale 64 on. Then each applied step shortens the weights by the clipped gradient's 0.1 *
// 0.5.
TEST(GoldenRun, overflows_ten_times_and_recovers_as_by_hand) {
  const auto x = torch::full({2, 4}, 10.0), y = torch::zeros({2, 1});
  const auto weight = torch::ones({1, 4}).set_requires_grad(true);
  torch::optim::SGD optimizer({weight}, torch::optim::SGDOptions(0.1));
  GradScaler scaler;
  const std::vector<double> losses = {1600, 1444, 1296, 1156}, norms = {1600, 1520, 1440, 1360};
  for (int step = 0; step < 14; ++step) {
    SCOPED_TRACE(step);
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const AutocastGuard autocast(torch::kCPU, torch::kHalf);
      const auto out = torch::linear(x, weight);
      EXPECT_EQ(out.scalar_type(), torch::kHalf);
      loss = torch::mse_loss(out, y);
    }
    EXPECT_EQ(loss.scalar_type(), torch::kFloat);
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    const double norm = gradlab::amp::clip_grad_norm_(weight, 1.0).item<double>();
    EXPECT_EQ(scaler.step(optimizer), step >= 10);
    scaler.update();
    if (step < 10) {
      EXPECT_TRUE(std::isinf(norm));
      EXPECT_EQ(loss.item<double>(), 1600);
      EXPECT_EQ(scaler.get_scale(), 65536 / std::pow(2.0, step + 1));
    } else {
      // float16 outputs and the 1e-6 in the coefficient keep these from being exact.
      EXPECT_NEAR(loss.item<double>(), losses[step - 10], 1);
      EXPECT_NEAR(norm, norms[step - 10], 1);
      EXPECT_EQ(scaler.get_scale(), 64);
    }
  }
  EXPECT_EQ(scaler.view(optimizer).steps_skipped, 10);
  EXPECT_EQ(scaler.view(optimizer).steps_taken, 4);
}

}  // namespace
