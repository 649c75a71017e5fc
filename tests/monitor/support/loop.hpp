// Loops for the tests: parameters with gradients set by hand, or a small network that trains.
#pragma once

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gradlab/amp/grad_scaler.hpp"
#include "gradlab/monitor/monitor.hpp"

namespace loops {

namespace amp = gradlab::amp;
namespace monitor = gradlab::monitor;

// What a monitor told.
struct Told {
  std::vector<monitor::Event> events;
  std::vector<monitor::StepRecord> records;

  // Options that tell it here. REQUIRES: this outlives the monitor.
  monitor::Options heard(monitor::Options options);
  int64_t count(const std::string& name) const;
  // The first of that name; fails where there is none.
  const monitor::Event& first(const std::string& name) const;
  std::vector<std::string> names() const;
};

// The rules' options, every step looked at.
monitor::Options every_step(monitor::Rules rules);

// A scaler in use, at that scale, and the rules' options with it.
amp::GradScaler scaler_at(double scale);
monitor::Options with(const amp::GradScaler& scaler, monitor::Rules rules);

std::string text(const monitor::Event& event, const std::string& field);
double number(const monitor::Event& event, const std::string& field);

// Layers "a", "b", ... of one parameter "weight" each, with gradients set by hand: gradient i is
// `gains[i]` in its every element, times the scale where there is a scaler.
class Hand {
 public:
  explicit Hand(size_t layers, std::vector<int64_t> shape = {4},
                torch::ScalarType type = torch::kFloat);

  std::vector<monitor::Layer> layers() const { return layers_; }
  const torch::Tensor& parameter(size_t layer) const { return layers_[layer].parameters[0].tensor; }
  torch::optim::SGD& optimizer() { return *optimizer_; }
  void set(size_t layer, double value);
  // Every gradient at once; NaN there stands for no gradient.
  void set_all(const std::vector<double>& values);

 private:
  std::vector<monitor::Layer> layers_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
};

}  // namespace loops
