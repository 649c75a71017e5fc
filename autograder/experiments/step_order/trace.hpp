// The calls of a run in the order in which they came, one a line, for people: what the AMP library
// reports, forward and backward, a bare optimizer.step; and what is told from what it changed:
// zero_grad from gradients that were there and are gone, progress.follow from a count of updates.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <gradlab/amp/observer.hpp>
#include <memory>
#include <string>
#include <vector>

namespace gradlab::step_order_runs {

class Trace : public amp::Observer {
 public:
  // Gradients to look at for zero_grad.
  void watch(const std::vector<torch::Tensor>& weights);
  // A count of updates to look at for progress.follow.
  void watch(std::shared_ptr<const int64_t> updates);
  void line(const std::string& text);
  // Tells of changes since the last line.
  void catch_up();
  void begin(const amp::Event& event) noexcept override;
  void end(const amp::Event& event) noexcept override;

  bool inside_scaler_step() const { return inside_step_ > 0; }
  const std::string& text() const { return text_; }

 private:
  bool any_gradient() const;

  void write(const std::string& text);

  std::vector<torch::Tensor> weights_;
  std::shared_ptr<const int64_t> updates_;
  int64_t updates_told_ = 0;
  bool had_gradients_ = false;
  int inside_step_ = 0;
  std::string text_;
};

}  // namespace gradlab::step_order_runs
