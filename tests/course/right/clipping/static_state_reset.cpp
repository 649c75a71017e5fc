// Keeps its working memory between calls, and clears it at the start of each.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace {

struct Workspace {
  std::vector<torch::Tensor> grads;
  double sum = 0;

  void load(const std::vector<torch::Tensor>& parameters) {
    grads.clear();
    sum = 0;
    for (const auto& p : parameters) {
      if (!p.grad().defined()) continue;
      grads.push_back(p.grad());
      sum += p.grad().detach().to(torch::kDouble).square().sum().item<double>();
    }
  }
};

Workspace work;

}  // namespace

double clipping::total_norm(const std::vector<torch::Tensor>& parameters) {
  work.load(parameters);
  return std::sqrt(work.sum);
}

double clipping::clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  if (norm > max_norm)
    for (auto& g : work.grads) g.mul_(max_norm / (norm + 1e-6));
  return norm;
}

double clipping::clip_gradients_checked(const std::vector<torch::Tensor>& parameters,
                                        double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error("inf or nan");
  return clip_gradients(parameters, max_norm);
}

bool clipping::clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm,
                                 int64_t step, int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}
