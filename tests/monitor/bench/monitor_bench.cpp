// What the monitor costs a training loop, with every step looked at and its record written: prints
// one JSON object. monitor_bench [--steps N]. One thread; times by the CPU's clock, which a busy
// machine hardly changes.
#include <ATen/Parallel.h>
#include <stdlib.h>
#include <time.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/optim/adam.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "gradlab/monitor/monitor.hpp"

namespace {

namespace monitor = gradlab::monitor;
namespace nn = torch::nn;
using Json = nlohmann::ordered_json;

double cpu_us() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size()))];
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

// ---- the models, as tests/bench/monitor_python.py has them

struct Model {
  const char* name;
  std::function<nn::Sequential()> make;
  int64_t width, batch;
};

nn::Sequential three_layers() {
  return nn::Sequential(nn::Linear(32, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(),
                        nn::Linear(64, 10));
}

nn::Sequential many_wide() {
  nn::Sequential net;
  for (int i = 0; i < 24; ++i) {
    net->push_back(nn::Linear(256, 256));
    net->push_back(nn::ReLU());
  }
  return net;
}

nn::Sequential many_small() {
  nn::Sequential net;
  for (int i = 0; i < 100; ++i) {
    net->push_back(nn::Linear(64, 64));
    net->push_back(nn::LayerNorm(nn::LayerNormOptions({64})));
  }
  return net;
}

const std::vector<Model>& models() {
  static const std::vector<Model> all = {{"3 Linear", three_layers, 32, 32},
                                         {"24 x Linear 256", many_wide, 256, 32},
                                         {"100 x Linear 64 + LayerNorm", many_small, 64, 32}};
  return all;
}

// ---- a training loop

class Loop {
 public:
  explicit Loop(const Model& model)
      : net_(model.make()),
        optimizer_(net_->parameters(), torch::optim::AdamOptions(1e-4)),
        x_(torch::randn({model.batch, model.width})) {}

  void watch(const std::string& path) {
    monitor::Options options;
    options.path = path;
    options.mode = monitor::FileMode::kOverwrite;
    monitor_ = std::make_unique<monitor::Monitor>(net_, optimizer_, options);
  }

  // The CPU's microseconds of a step without the monitor, and of the monitor.
  std::pair<double, double> step(bool watched) {
    const double start = cpu_us();
    optimizer_.zero_grad();
    const torch::Tensor loss = net_->forward(x_).square().mean();
    loss.backward();
    const double before = cpu_us();
    if (watched) monitor_->step(loss);
    const double after = cpu_us();
    optimizer_.step();
    return {cpu_us() - after + before - start, after - before};
  }

 private:
  nn::Sequential net_;
  torch::optim::Adam optimizer_;
  torch::Tensor x_;
  std::unique_ptr<monitor::Monitor> monitor_;
};

// Blocks of steps with and without the monitor take turns.
Json measured(const Model& model, int steps, const std::string& path) {
  constexpr int kBlock = 10;
  torch::manual_seed(1);
  Loop loop(model);
  loop.watch(path);
  for (int i = 0; i < kBlock; ++i) loop.step(true);  // warms up
  std::vector<double> checks, plain_steps, with, without;
  for (int block = 0; block < steps / kBlock; ++block) {
    for (const bool watched : {false, true}) {
      double whole = 0;
      for (int i = 0; i < kBlock; ++i) {
        const auto [own, monitors] = loop.step(watched);
        whole += own + monitors;
        (watched ? checks : plain_steps).push_back(watched ? monitors : own);
      }
      (watched ? with : without).push_back(whole);
    }
  }
  std::vector<double> ratios;
  for (size_t i = 0; i < with.size(); ++i) ratios.push_back(with[i] / without[i]);
  const double check = median(checks), step = median(plain_steps);
  return {{"model", model.name},
          {"step_us", step},
          {"check_us", check},
          {"share", check / step},
          // What other programs leave alone: the quickest tenth of both.
          {"quiet_share", quantile(checks, 0.1) / quantile(plain_steps, 0.1)},
          {"loop_ratio", median(ratios)}};
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc == 3 && std::strcmp(argv[1], "--steps") == 0 ? std::atoi(argv[2]) : 200;
  at::set_num_threads(1);
  char folder[] = "/tmp/gradlab-monitor-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  Json report = Json::array();
  for (const Model& model : models()) {
    report.push_back(measured(model, std::max(steps, 10), std::string(folder) + "/run.jsonl"));
  }
  std::filesystem::remove_all(folder);
  std::cout << report.dump(1) << "\n";
  return 0;
}
