#include "support/scaler_case.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <limits>

#include "support/golden.hpp"

namespace amp_test {
namespace {

gradlab::amp::GradScaler scaler_of(bool enabled) {
  gradlab::amp::GradScalerOptions options;
  options.init_scale = 128;
  options.growth_interval = 1;
  options.enabled = enabled;
  return gradlab::amp::GradScaler(options);
}

void expect_equal(const Model& got, const Model& expected, double tolerance) {
  const auto a = got.parameters(), b = expected.parameters();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(golden::close(a[i], b[i], tolerance, tolerance)) << "parameter " << i;
    EXPECT_TRUE(golden::close(a[i].grad(), b[i].grad(), tolerance, tolerance)) << "gradient " << i;
    const auto found = got.optimizer->state().find(a[i].unsafeGetTensorImpl());
    const auto other = expected.optimizer->state().find(b[i].unsafeGetTensorImpl());
    ASSERT_EQ(found == got.optimizer->state().end(), other == expected.optimizer->state().end());
    if (found == got.optimizer->state().end()) continue;
    const auto* adam = dynamic_cast<torch::optim::AdamWParamState*>(found->second.get());
    if (adam == nullptr) continue;
    const auto& control = static_cast<torch::optim::AdamWParamState&>(*other->second);
    EXPECT_EQ(adam->step(), control.step());
    EXPECT_TRUE(golden::close(adam->exp_avg(), control.exp_avg(), tolerance, tolerance));
    EXPECT_TRUE(golden::close(adam->exp_avg_sq(), control.exp_avg_sq(), tolerance, tolerance));
  }
}

// The control leaves the bad batch out of its steps.
void train(Model& model, gradlab::amp::GradScaler& scaler, const Iteration& iteration) {
  size_t number = 0;
  for (const auto& [x, y] : batches()) {
    const bool bad = number++ == kBadBatch;
    model.optimizer->zero_grad();
    iteration(model, scaler, x, y, bad && scaler.is_enabled());
    if (bad && !scaler.is_enabled()) continue;
    scaler.step(*model.optimizer);
    scaler.update();
  }
}

}  // namespace

torch::Tensor Model::loss(const torch::Tensor& x, const torch::Tensor& y) {
  return torch::mse_loss(net->forward(x), y);
}

Model model(Kind kind, double lr, uint64_t seed) {
  torch::manual_seed(seed);
  Model made;
  made.net = torch::nn::Sequential(torch::nn::Linear(8, 8), torch::nn::Linear(8, 8));
  if (kind == Kind::kSgd) {
    made.optimizer =
        std::make_unique<torch::optim::SGD>(made.net->parameters(), torch::optim::SGDOptions(lr));
  } else {
    made.optimizer = std::make_unique<torch::optim::AdamW>(made.net->parameters(),
                                                           torch::optim::AdamWOptions(lr));
  }
  return made;
}

std::vector<std::pair<torch::Tensor, torch::Tensor>> batches() {
  torch::manual_seed(11);
  std::vector<std::pair<torch::Tensor, torch::Tensor>> all;
  for (int i = 0; i < 4; ++i) {
    const auto x = torch::randn({8, 8});
    all.emplace_back(x, torch::randn({8, 8}));
  }
  return all;
}

void spoil(Model& model) {
  model.parameters()[2].grad().fill_(std::numeric_limits<float>::infinity());
}

void run_scaling_case(const CaseOptions& options, const Iteration& iteration) {
  Model scaled = model(options.kind, options.lr), control = model(options.kind, options.lr);
  auto on = scaler_of(true), off = scaler_of(false);
  train(scaled, on, iteration);
  train(control, off, iteration);
  EXPECT_EQ(on.get_scale(),
            128 * std::pow(2.0, options.unskipped) * std::pow(0.5, options.skipped));
  EXPECT_EQ(off.get_scale(), 1);
  EXPECT_EQ(on.steps_skipped(), options.skipped);
  expect_equal(scaled, control, options.tolerance);
}

}  // namespace amp_test
