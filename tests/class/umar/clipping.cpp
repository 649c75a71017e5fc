#include "clipping.hpp"

#include <torch/nn/utils/clip_grad.h>

#include <cmath>
#include <limits>
#include <stdexcept>

// LibTorch has all of this already, no need to write it again.

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  // a limit that is never reached: nothing is clipped and the norm comes back
  return torch::nn::utils::clip_grad_norm_(parameters, std::numeric_limits<double>::infinity());
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  return torch::nn::utils::clip_grad_norm_(parameters, max_norm);
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  return torch::nn::utils::clip_grad_norm_(parameters, max_norm, 2.0, true);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  torch::nn::utils::clip_grad_norm_(parameters, max_norm);
  return true;
}

}  // namespace clipping
