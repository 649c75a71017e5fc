// The calls of a run in the order in which they came, one a line, for people: what the AMP library
// reports, forward and backward, a bare optimizer.step, and zero_grad, which is told from gradients
// that were there and are gone.
#pragma once

#include <torch/types.h>

#include <gradlab/amp/observer.hpp>
#include <string>
#include <vector>

namespace gradlab::step_order_runs {

class Trace : public amp::Observer {
 public:
  // Gradients to look at for zero_grad.
  void watch(const std::vector<torch::Tensor>& weights);
  void line(const std::string& text);
  void begin(const amp::Event& event) noexcept override;
  void end(const amp::Event& event) noexcept override;

  bool inside_scaler_step() const { return inside_step_ > 0; }
  const std::string& text() const { return text_; }

 private:
  bool any_gradient() const;

  std::vector<torch::Tensor> weights_;
  bool had_gradients_ = false;
  int inside_step_ = 0;
  std::string text_;
};

}  // namespace gradlab::step_order_runs
