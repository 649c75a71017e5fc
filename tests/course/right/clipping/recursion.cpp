#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

static double squares(const std::vector<torch::Tensor>& list, size_t from, size_t to) {
  if (from == to) return 0;
  if (to - from == 1) {
    const auto& g = list[from].grad();
    return g.defined() ? g.to(torch::kDouble).square().sum().item<double>() : 0;
  }
  const size_t middle = from + (to - from) / 2;
  return squares(list, from, middle) + squares(list, middle, to);
}

static void scale(const std::vector<torch::Tensor>& list, size_t at, double by) {
  if (at == list.size()) return;
  if (list[at].grad().defined()) list[at].grad().mul_(by);
  scale(list, at + 1, by);
}

double total_norm(const std::vector<torch::Tensor>& parameters) {
  return std::sqrt(squares(parameters, 0, parameters.size()));
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  scale(parameters, 0, std::fmin(1, max_norm / (norm + 1e-6)));
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(squares(parameters, 0, parameters.size())))
    throw std::runtime_error("not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  return step < warmup_steps ? false : (clip_gradients(parameters, max_norm), true);
}

}  // namespace clipping
