// Real training loops: what is told of them, and that a healthy one raises nothing.
#include "support/loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gradlab/amp/amp.hpp"
#include "training_loop.hpp"

namespace {

namespace amp = gradlab::amp;
namespace monitor = gradlab::monitor;
using loops::Told;

torch::nn::Sequential network(int64_t in, int64_t width, int64_t out) {
  return torch::nn::Sequential(torch::nn::Linear(in, width), torch::nn::ReLU(),
                               torch::nn::Linear(width, width), torch::nn::ReLU(),
                               torch::nn::Linear(width, out));
}

shown::Batches batches(int count) {
  torch::manual_seed(2);
  shown::Batches all;
  for (int i = 0; i < count; ++i) {
    const auto x = torch::randn({32, 8});
    all.emplace_back(x, x.sum(1, true).tanh());
  }
  return all;
}

std::vector<std::string> warnings(const Told& told) {
  std::vector<std::string> all;
  for (const auto& event : told.events) {
    if (event.severity == monitor::Severity::kInfo) continue;
    all.push_back(event.name + " at " + std::to_string(event.step));
  }
  return all;
}

// ---- healthy training, in several shapes, seeds and optimizers

struct Healthy {
  std::string name;
  bool half, adam, classify;
};
void PrintTo(const Healthy& one, std::ostream* out) { *out << one.name; }

class HealthyTraining : public testing::TestWithParam<Healthy> {};

TEST_P(HealthyTraining, raises_nothing) {
  const Healthy& kind = GetParam();
  for (int seed = 1; seed <= 3; ++seed) {
    torch::manual_seed(seed);
    auto net = network(8, 32, kind.classify ? 4 : 1);
    std::unique_ptr<torch::optim::Optimizer> optimizer;
    if (kind.adam) {
      optimizer = std::make_unique<torch::optim::AdamW>(net->parameters(),
                                                        torch::optim::AdamWOptions(3e-3));
    } else {
      optimizer = std::make_unique<torch::optim::SGD>(net->parameters(),
                                                      torch::optim::SGDOptions(0.05).momentum(0.9));
    }
    amp::GradScaler scaler;
    Told told;
    monitor::Options options;
    if (kind.half) options.scaler = &scaler;
    monitor::Monitor watch(net, *optimizer, told.heard(options));
    for (int i = 0; i < 400; ++i) {
      const auto x = torch::randn({32, 8});
      optimizer->zero_grad();
      torch::Tensor loss;
      {
        const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf, kind.half);
        const auto out = net->forward(x);
        loss = kind.classify
                   ? torch::cross_entropy_loss(
                         out, ((x.select(1, 0) > 0) + 2 * (x.select(1, 1) > 0)).to(torch::kLong))
                   : torch::mse_loss(out, x.sum(1, true).tanh());
      }
      if (kind.half) {
        scaler.scale(loss).backward();
        amp::unscale_and_clip_(scaler, *optimizer, 1.0);
        watch.step(loss);
        scaler.step(*optimizer);
        scaler.update();
      } else {
        loss.backward();
        watch.step(loss);
        optimizer->step();
      }
    }
    EXPECT_THAT(warnings(told), testing::IsEmpty()) << "seed " << seed;
    EXPECT_EQ(watch.counts().skipped_steps, scaler.steps_skipped());
    EXPECT_EQ(watch.counts().errors, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HealthyTraining,
                         testing::Values(Healthy{"sgd", false, false, false},
                                         Healthy{"adam", false, true, false},
                                         Healthy{"adam_classes", false, true, true},
                                         Healthy{"half_sgd", true, false, false},
                                         Healthy{"half_adam_classes", true, true, true}),
                         [](const auto& one) { return one.param.name; });

// ---- a true loop beside the scaler

// The order's golden run: a scale of 65536 that overflows ten times, then trains.
TEST(GoldenRun, skips_norms_and_scales_are_those_derived_by_hand) {
  const auto x = torch::full({2, 4}, 10.0), y = torch::zeros({2, 1});
  const auto weight = torch::ones({1, 4}).set_requires_grad(true);
  torch::optim::SGD optimizer({weight}, torch::optim::SGDOptions(0.1));
  amp::GradScaler scaler;
  Told told;
  monitor::Options options;
  options.scaler = &scaler;
  const std::vector<monitor::Layer> layers = {{"linear", "Linear", {{"weight", weight}}}};
  monitor::Monitor watch(layers, optimizer, told.heard(options));
  for (int step = 0; step < 14; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(torch::linear(x, weight), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    watch.step(loss);
    amp::clip_grad_norm_(amp::parameters_of(optimizer), 1.0);
    scaler.step(optimizer);
    scaler.update();
  }
  ASSERT_EQ(told.records.size(), 14U);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(told.records[i].scale, std::exp2(16 - static_cast<double>(i)));
    EXPECT_EQ(told.records[i].skipped, true);
    EXPECT_FALSE(std::isfinite(*told.records[i].norm));
  }
  const double losses[] = {1600, 1444, 1296, 1156}, norms[] = {1600, 1520, 1440, 1360};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(told.records[10 + i].loss, losses[i]);
    EXPECT_EQ(told.records[10 + i].norm, norms[i]);
    EXPECT_EQ(told.records[10 + i].scale, 64);
    EXPECT_EQ(told.records[10 + i].clipped, true);
  }
  EXPECT_EQ(told.count("skipped_step"), 10);
  EXPECT_THAT(warnings(told), testing::IsEmpty());
}

// The same gradients with and without unscale_ before the check: the same norms.
TEST(TrueLoop, norms_do_not_depend_on_unscale) {
  std::vector<std::vector<double>> norms;
  for (const bool unscale : {true, false}) {
    torch::manual_seed(1);
    auto net = network(8, 16, 1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
    amp::GradScaler scaler;
    Told told;
    monitor::Options options;
    options.scaler = &scaler;
    monitor::Monitor watch(net, optimizer, told.heard(options));
    for (const auto& [x, y] : batches(30)) {
      optimizer.zero_grad();
      const auto loss = torch::mse_loss(net->forward(x), y);
      scaler.scale(loss).backward();
      if (unscale) scaler.unscale_(optimizer);
      watch.step(loss);
      scaler.step(optimizer);
      scaler.update();
    }
    norms.emplace_back();
    for (const auto& record : told.records) norms.back().push_back(*record.norm);
  }
  ASSERT_EQ(norms[0].size(), 30U);
  for (size_t i = 0; i < 30; ++i) EXPECT_NEAR(norms[0][i] / norms[1][i], 1, 1e-6);
}

// ---- faults planted in it

std::vector<std::string> told_with(const std::function<void(int, torch::nn::Sequential&)>& fault) {
  torch::manual_seed(1);
  auto net = network(8, 16, 1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  Told told;
  monitor::Monitor watch(net, optimizer, told.heard({}));
  int step = 0;
  for (const auto& [x, y] : batches(120)) {
    optimizer.zero_grad();
    const auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    fault(step++, net);
    watch.step(loss);
    optimizer.step();
  }
  return warnings(told);
}

TEST(PlantedFault, each_is_told_and_named) {
  const auto gradient = [](torch::nn::Sequential& net) { return net->parameters()[2].grad(); };
  EXPECT_THAT(told_with([](int, torch::nn::Sequential&) {}), testing::IsEmpty());
  EXPECT_THAT(told_with([&](int i, auto& net) {
                if (i >= 100) gradient(net).mul_(1e4);
              }),
              testing::Contains("alarm at 101"));
  EXPECT_THAT(told_with([&](int i, auto& net) {
                if (i == 60) gradient(net)[0] = NAN;
              }),
              testing::Contains("nonfinite_gradient at 60"));
  EXPECT_THAT(told_with([&](int i, auto& net) {
                if (i < 60) return;
                for (size_t p : {2, 3}) net->parameters()[p].mutable_grad() = torch::Tensor();
              }),
              testing::Contains("missing_gradient at 61"));
}

// ---- what the README shows

class Shown : public testing::Test {
 protected:
  Shown() {
    char name[] = "/tmp/gradlab-monitor-XXXXXX";
    folder = mkdtemp(name);
    torch::manual_seed(1);
    net = network(8, 16, 1);
  }
  ~Shown() override { std::filesystem::remove_all(folder); }
  std::string folder;
  torch::nn::Sequential net{nullptr};
};

TEST_F(Shown, loop_trains_and_leaves_its_record) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  const auto counts = shown::train(net, optimizer, batches(40), folder + "/run.jsonl");
  EXPECT_EQ(counts.errors, 0);
  EXPECT_EQ(counts.late_checks, 0);
  std::ifstream in(folder + "/run.jsonl");
  int steps = 0;
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    steps += json.at("event") == "step" ? 1 : 0;
    if (json.at("event") == "step") EXPECT_TRUE(json.at("clipped").is_boolean());
  }
  EXPECT_EQ(steps, 40);
}

TEST_F(Shown, callback_hears_nothing_of_a_calm_run) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  EXPECT_THAT(shown::train_plain(net, optimizer, batches(40)), testing::IsEmpty());
}

TEST_F(Shown, checkpoint_is_taken_up) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  EXPECT_EQ(shown::resume(net, optimizer, folder), 1);
}

}  // namespace
