// PyTorch's whole-loop scaler tests: test/test_torch.py, over _run_scaling_case. Names are theirs.
#include <torch/csrc/autograd/autograd.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <sstream>

#include "gradlab/amp/autocast.hpp"
#include "gradlab/amp/clip.hpp"
#include "gradlab/amp/state.hpp"
#include "support/scaler_case.hpp"

namespace {

using amp_test::CaseOptions;
using amp_test::Kind;
using amp_test::Model;
using amp_test::run_scaling_case;
using amp_test::spoil;
using gradlab::amp::AutocastGuard;
using gradlab::amp::GradScaler;
using torch::Tensor;

void backward(Model& model, GradScaler& scaler, const Tensor& x, const Tensor& y, bool bad) {
  scaler.scale(model.loss(x, y)).backward();
  if (bad) spoil(model);
}

TEST(TestTorch, test_grad_scaling_autocast) {
  for (const Kind kind : {Kind::kSgd, Kind::kAdamW}) {
    CaseOptions options;
    options.kind = kind;
    options.lr = 0.01;
    options.tolerance = 1e-3;  // float16 rounds a scaled gradient and an unscaled one differently
    run_scaling_case(
        options, [](Model& model, GradScaler& scaler, const Tensor& x, const Tensor& y, bool bad) {
          Tensor loss;
          {
            const AutocastGuard autocast(torch::kCPU, torch::kHalf);
            loss = model.loss(x, y);
          }
          scaler.scale(loss).backward();
          if (bad) spoil(model);
        });
  }
}

// As above, and the scaler goes through a checkpoint in every iteration.
TEST(TestTorch, test_grad_scaling_autocast_pickled_each_iteration) {
  CaseOptions options;
  run_scaling_case(
      options, [](Model& model, GradScaler& scaler, const Tensor& x, const Tensor& y, bool bad) {
        std::stringstream file;
        torch::save(scaler, file);
        if (scaler.is_enabled()) {
          torch::load(scaler, file);
        }
        backward(model, scaler, x, y, bad);
      });
}

TEST(TestTorch, test_grad_scaling_clipping) {
  run_scaling_case(
      {}, [](Model& model, GradScaler& scaler, const Tensor& x, const Tensor& y, bool bad) {
        backward(model, scaler, x, y, bad);
        gradlab::amp::clip_grad_norm_(model.parameters(), 0.2 * scaler.get_scale());
      });
}

TEST(TestTorch, test_grad_scaling_clipping_separate_unscale) {
  run_scaling_case(
      {}, [](Model& model, GradScaler& scaler, const Tensor& x, const Tensor& y, bool bad) {
        backward(model, scaler, x, y, bad);
        scaler.unscale_(*model.optimizer);
        gradlab::amp::clip_grad_norm_(model.parameters(), 0.2);
      });
}

TEST(TestTorch, test_grad_scaling_penalty) {
  run_scaling_case(
      {}, [](Model& model, GradScaler& scaler, const Tensor& x, const Tensor& y, bool bad) {
        Tensor loss = model.loss(x, y);
        auto gradients = torch::autograd::grad({scaler.scale(loss)}, model.parameters(), {},
                                               /*retain_graph=*/true, /*create_graph=*/true);
        Tensor penalty = torch::zeros({});
        // Out of place: the graph of the penalty goes through these.
        for (auto& gradient : gradients) {
          penalty = penalty + (gradient * (1.0 / scaler.get_scale())).square().sum();
        }
        scaler.scale(loss + penalty.sqrt()).backward();
        if (bad) spoil(model);
      });
}

TEST(TestTorch, test_grad_scaling_accumulation) {
  run_scaling_case(
      {}, [](Model& model, GradScaler& scaler, const Tensor& x, const Tensor& y, bool bad) {
        for (int half = 0; half < 2; ++half) {
          const auto rows = [&](const Tensor& all) { return all.slice(0, 4 * half, 4 * half + 4); };
          scaler.scale(model.loss(rows(x), rows(y)) / 2).backward();
        }
        if (bad) spoil(model);
      });
}

// Two models, two losses, two optimizers, one scaler: inf in the first model's gradients at one
// step skips its optimizer only, and means one backoff.
TEST(TestTorch, test_grad_scaling_multiple) {
  gradlab::amp::GradScalerOptions options;
  options.init_scale = 128;
  options.growth_interval = 1;
  GradScaler scaler(options);
  Model first = amp_test::model(Kind::kSgd, 0.1, 3), second = amp_test::model(Kind::kSgd, 0.1, 4);
  Model first_control = amp_test::model(Kind::kSgd, 0.1, 3);
  Model second_control = amp_test::model(Kind::kSgd, 0.1, 4);
  const auto losses = [](Model& a, Model& b, const Tensor& x, const Tensor& y) {
    const auto out_a = a.net->forward(x), out_b = b.net->forward(x);
    return std::pair(torch::mse_loss(2 * out_a + 3 * out_b, y),
                     torch::mse_loss(3 * out_a - 5 * out_b, y));
  };
  size_t number = 0;
  for (const auto& [x, y] : amp_test::batches()) {
    const bool bad = number++ == amp_test::kBadBatch;
    for (Model* model : {&first, &second, &first_control, &second_control}) {
      model->optimizer->zero_grad();
    }
    const auto [loss_a, loss_b] = losses(first, second, x, y);
    scaler.scale(loss_a).backward({}, /*retain_graph=*/true);
    scaler.scale(loss_b).backward();
    if (bad) spoil(first);
    scaler.unscale_(*first.optimizer);  // a choice for each optimizer
    EXPECT_EQ(scaler.step(*first.optimizer), !bad);
    EXPECT_TRUE(scaler.step(*second.optimizer));
    scaler.update();

    const auto [control_a, control_b] = losses(first_control, second_control, x, y);
    control_a.backward({}, true);
    control_b.backward();
    if (!bad) first_control.optimizer->step();
    second_control.optimizer->step();
  }
  EXPECT_EQ(scaler.get_scale(), 128 * 8 * 0.5);
  for (size_t i = 0; i < first.parameters().size(); ++i) {
    EXPECT_TRUE(torch::allclose(first.parameters()[i], first_control.parameters()[i], 1e-5, 1e-7));
    EXPECT_TRUE(
        torch::allclose(second.parameters()[i], second_control.parameters()[i], 1e-5, 1e-7));
  }
}

}  // namespace
