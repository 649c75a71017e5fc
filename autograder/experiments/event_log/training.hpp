// A run of the event_log lab: weights whose true gradients and losses a case names step by step, in
// a loop with an optimizer, a scaler and a schedule.
#pragma once

#include <memory>
#include <vector>

#include "event_log.hpp"
#include "protocol/case.hpp"

namespace gradlab::event_log_runs {

class Training {
 public:
  explicit Training(const Case& in);

  event_log::Loop loop();
  size_t steps() const { return losses_.size(); }
  // 0-dim, with this step's value; its gradients pass through float16 on their way to the weights,
  // and become inf there where they are too large.
  torch::Tensor loss(size_t step) const;
  torch::Tensor weights() const;  // of all groups, in one row; a copy
  double scale() const { return scaler_.get_scale(); }
  double lr() const;
  // The gradients that the optimizer last stepped with, in one row; undefined where it has not
  // stepped since the last call.
  torch::Tensor take_stepped_gradients();

 private:
  std::vector<torch::Tensor> gradients_;  // [n] for each step
  std::vector<torch::Tensor> losses_;     // 0-dim
  std::vector<torch::Tensor> groups_;     // weights, one row a parameter group
  torch::Tensor stepped_with_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  amp::GradScaler scaler_;
  std::unique_ptr<torch::optim::LRScheduler> schedule_;
  std::optional<double> max_norm_;
};

}  // namespace gradlab::event_log_runs
