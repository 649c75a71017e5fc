// Plays a call sequence of golden/grad_scaler on gradlab::amp::GradScaler and LibTorch's
// optimizers.
#pragma once

#include <torch/optim/optimizer.h>

#include <map>
#include <memory>
#include <string>

#include "gradlab/amp/grad_scaler.hpp"
#include "support/golden.hpp"

namespace golden {

class ScalerPlayer {
 public:
  // Throws what the scaler's construction throws.
  explicit ScalerPlayer(const Json& body);

  // One call; values that it returns are compared here. Throws what the call throws.
  void play(const Json& op, const Json& result);
  // Whether an optimizer stepped in the last call.
  bool applied() const { return applied_; }
  void expect_after(const Json& after);
  const gradlab::amp::GradScaler& scaler() const { return *scaler_; }

 private:
  struct Slot {
    std::string scaler;
    std::map<std::string, torch::Tensor> parameters;
    std::map<std::string, std::string> optimizers;
  };

  void play_on_gradients(const Json& op, const Json& result);
  void play_on_scaler(const Json& op, const Json& result);
  void play_state(const Json& op, const Json& result);
  void backward(const Json& op);
  void update(const Json& op);
  void step(const Json& op);
  void save(const std::string& slot);
  void load_all(const Slot& slot);
  void expect_optimizer(const std::string& name, const Json& after);
  testing::AssertionResult matches(const torch::Tensor& got, const Json& data) const;

  std::unique_ptr<gradlab::amp::GradScaler> scaler_;
  std::map<std::string, torch::Tensor> parameters_;
  std::map<std::string, std::unique_ptr<torch::optim::Optimizer>> optimizers_;
  std::map<std::string, int> steps_;
  std::map<std::string, Slot> slots_;
  bool applied_ = false;
  bool adamw_ = false;
};

// An optimizer of golden data ("sgd" or "adamw", its groups) over named parameters.
std::unique_ptr<torch::optim::Optimizer> optimizer_of(
    const Json& spec, const std::map<std::string, torch::Tensor>& parameters);
gradlab::amp::GradScalerOptions scaler_options_of(const Json& config);

// Loads `state` (Python's state_dict as JSON) the way a C++ program would.
void load_state_dict(gradlab::amp::GradScaler& scaler, const Json& state);

}  // namespace golden
