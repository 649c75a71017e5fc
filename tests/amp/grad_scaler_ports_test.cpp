// PyTorch's own scaler tests that carry over to C++ on a CPU: test/test_torch.py. The names are
// theirs. Left out: test_grad_scaler_pass_itself and test_grad_scaler_deprecated_warning (a
// protocol between Python optimizers and the scaler that C++ optimizers don't have), and what needs
// a GPU.
#include <torch/serialize.h>
#include <torch/types.h>

#include <sstream>

#include "gradlab/amp/state.hpp"
#include "support/golden.hpp"
#include "support/models.hpp"
#include "support/scaler_case.hpp"

namespace {

using amp_test::kInf;
using amp_test::kNaN;
using amp_test::with_gradient;
using gradlab::amp::GradScaler;
using gradlab::amp::GradScalerOptions;
using gradlab::amp::Stage;
using Tensors = std::vector<torch::Tensor>;

GradScalerOptions options(double scale, double growth = 2, double backoff = 0.5,
                          int64_t interval = 2000) {
  GradScalerOptions all;
  all.init_scale = scale;
  all.growth_factor = growth;
  all.backoff_factor = backoff;
  all.growth_interval = interval;
  return all;
}

// A scaler that has been used, and whether `parameters` make it find inf or NaN.
struct Unscaled {
  GradScaler scaler;
  torch::optim::SGD optimizer;
  std::optional<bool> found;

  Unscaled(const Tensors& parameters, const GradScalerOptions& all)
      : scaler(all), optimizer(parameters, torch::optim::SGDOptions(1.0)) {
    scaler.scale(torch::ones({}));
    scaler.unscale_(optimizer);
    found = scaler.view(optimizer).found_inf;
  }
};

// ---- test_pickle_gradscaler

TEST(TestTorch, test_pickle_gradscaler) {
  for (const bool used : {false, true}) {
    GradScaler scaler(options(3, 4, 0.5, 2));
    if (used) scaler.scale(torch::ones({}));
    std::stringstream file;
    torch::save(scaler, file);
    GradScaler back;
    torch::load(back, file);
    EXPECT_FALSE(back.is_initialised());
    EXPECT_EQ(gradlab::amp::to_json(back), gradlab::amp::to_json(scaler));
    back.scale(torch::ones({}));
    EXPECT_EQ(gradlab::amp::to_json(back), gradlab::amp::to_json(scaler));
  }
}

// ---- test_grad_scaling_unscale

// One way for a gradient to lie in memory, holding fours but for one element.
struct Layout {
  const char* name;
  torch::Tensor (*make)();
  double odd;  // what the element at [2, 2] is; 4 for none
  torch::ScalarType type = torch::kFloat;
};

torch::Tensor fours() { return torch::full({10, 10}, 4.0); }
torch::Tensor transposed() { return fours().t(); }
torch::Tensor slice() { return torch::full({10, 20}, 4.0).slice(1, 0, 10); }

const std::vector<Layout> kLayouts = {{"contiguous", fours, 4},
                                      {"transposed", transposed, 4},
                                      {"slice", slice, 4},
                                      {"contiguous_inf", fours, kInf},
                                      {"contiguous_nan", fours, kNaN},
                                      {"transposed_inf", transposed, kInf},
                                      {"transposed_nan", transposed, kNaN},
                                      {"slice_inf", slice, kInf},
                                      {"slice_nan", slice, kNaN},
                                      {"float64_minus_inf", fours, -kInf, torch::kDouble}};

torch::Tensor gradient_of(const Layout& layout) {
  auto gradient = layout.make();
  if (layout.type != torch::kFloat) gradient = gradient.to(layout.type);
  gradient[2][2] = layout.odd;
  return gradient;
}

TEST(TestTorch, test_grad_scaling_unscale_layouts) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(layout.name);
    const auto parameter = with_gradient(gradient_of(layout));
    const Unscaled run({parameter}, options(4));
    EXPECT_EQ(run.found, std::optional<bool>(!std::isfinite(layout.odd)));
    if (std::isfinite(layout.odd)) {
      EXPECT_TRUE(golden::bit_equal(parameter.grad(), torch::ones({10, 10})));
    }
  }
}

TEST(TestTorch, test_grad_scaling_unscale_mixed_lists) {
  const Tensors clean = {with_gradient(fours()), with_gradient(transposed()),
                         with_gradient(slice()), with_gradient(fours().to(torch::kDouble)),
                         with_gradient(fours().to(torch::kBFloat16))};
  const Unscaled run(clean, options(4));
  EXPECT_EQ(run.found, std::optional<bool>(false));
  for (const auto& parameter : clean) EXPECT_TRUE(parameter.grad().eq(1).all().item<bool>());
  for (size_t bad = 0; bad < clean.size(); ++bad) {
    for (const double value : {kInf, -kInf, kNaN}) {
      for (size_t i = 0; i < clean.size(); ++i) clean[i].grad().fill_(4);
      clean[bad].grad()[9][9] = value;
      EXPECT_EQ(Unscaled(clean, options(4)).found, std::optional<bool>(true));
    }
  }
}

TEST(TestTorch, test_grad_scaling_unscale_empty_list) {
  const Unscaled run({torch::zeros({2})}, options(4));
  EXPECT_EQ(run.found, std::nullopt);
  EXPECT_EQ(run.scaler.view(run.optimizer).stage, Stage::kUnscaled);
}

// ---- test_grad_scaling_unscale_sparse

torch::Tensor sparse(const std::vector<double>& values, torch::ScalarType type,
                     const std::vector<int64_t>& rows = {0, 1, 1}) {
  const auto indices = torch::stack({torch::tensor(rows), torch::tensor({2, 0, 2}, torch::kLong)});
  return torch::sparse_coo_tensor(indices, torch::tensor(values, torch::kDouble).to(type), {2, 3});
}

torch::Tensor sparse_parameter(const torch::Tensor& gradient) {
  auto parameter = torch::zeros({2, 3}, gradient.scalar_type());
  parameter.mutable_grad() = gradient;
  return parameter;
}

TEST(TestTorch, test_grad_scaling_unscale_sparse) {
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    const auto parameter = sparse_parameter(sparse({16, 32, 64}, type));
    EXPECT_EQ(Unscaled({parameter}, options(4)).found, std::optional<bool>(false));
    EXPECT_TRUE(
        golden::bit_equal(parameter.grad().to_dense(), sparse({4, 8, 16}, type).to_dense()));
    for (const double value : {kInf, kNaN}) {
      const auto bad = sparse_parameter(sparse({16, 32, value}, type));
      EXPECT_EQ(Unscaled({bad}, options(4)).found, std::optional<bool>(true));
    }
  }
}

// Two float16 values at one place are finite apart and overflow together.
TEST(TestTorch, test_grad_scaling_unscale_sparse_float16_duplicates) {
  auto all = options(4);
  all.allow_float16_gradients = true;
  const auto indices = torch::tensor({{0, 1, 0}, {2, 0, 2}}, torch::kLong);
  const auto values = torch::tensor({64000.0, 1.0, 64000.0}, torch::kFloat).to(torch::kHalf);
  const auto parameter = sparse_parameter(torch::sparse_coo_tensor(indices, values, {2, 3}));
  EXPECT_EQ(Unscaled({parameter}, all).found, std::optional<bool>(true));
}

// ---- test_grad_scaling_update_scale

TEST(TestTorch, test_grad_scaling_update_scale) {
  GradScaler scaler(options(4, 2, 0.25, 2));
  const auto parameter = with_gradient(fours());
  torch::optim::SGD optimizer({parameter}, torch::optim::SGDOptions(0.0));
  const auto round = [&](double gradient) {
    scaler.scale(torch::ones({}));
    parameter.grad().fill_(gradient);
    scaler.unscale_(optimizer);
    scaler.update();
    return std::pair(scaler.get_scale(), scaler.growth_tracker());
  };
  EXPECT_EQ(round(1), std::pair(4.0, int64_t{1}));
  EXPECT_EQ(round(1), std::pair(8.0, int64_t{0}));
  EXPECT_EQ(round(kInf), std::pair(2.0, int64_t{0}));
}

// ---- test_grad_scaling_state_dict

TEST(TestTorch, test_grad_scaling_state_dict) {
  for (const bool lazy : {true, false}) {
    GradScaler source(options(3, 4, 0.5, 2)), target(options(6, 7, 0.8, 1));
    if (!lazy) target.scale(torch::ones({}));
    target.load_state(source.state());
    EXPECT_EQ(gradlab::amp::to_json(target), gradlab::amp::to_json(source));
    EXPECT_EQ(target.scale(torch::ones({})).item<double>(), 3);
  }
  auto off = options(6);
  off.enabled = false;
  GradScaler disabled(off);
  disabled.load_state(GradScaler(options(3)).state());
  EXPECT_EQ(disabled.get_scale(), 1.0);
}

// ---- test_grad_scale_will_not_overflow

TEST(TestTorch, test_grad_scale_will_not_overflow) {
  GradScaler scaler(options(1e38, 16, 0.5, 1));
  const auto weight = torch::full({5, 1}, 0.5).set_requires_grad(true);
  torch::optim::SGD optimizer({weight}, torch::optim::SGDOptions(0.0));
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    scaler.scale((weight * 1e-3).sum()).backward();
    EXPECT_TRUE(scaler.step(optimizer));
    scaler.update();
  }
  EXPECT_TRUE(std::isfinite(scaler.get_scale()));
  EXPECT_EQ(scaler.get_scale(), static_cast<double>(1e38F));
}

// ---- test_params_invalidated_with_grads_invalidated_between_unscale_and_step

TEST(TestTorch, test_params_invalidated_with_grads_invalidated_between_unscale_and_step) {
  const auto parameter = with_gradient(fours());
  Unscaled run({parameter}, options(4));
  parameter.grad().fill_(kInf);
  EXPECT_TRUE(run.scaler.step(run.optimizer));
  run.scaler.update();
  EXPECT_TRUE(parameter.isinf().all().item<bool>());
}

}  // namespace
