#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

class Clipper {
 public:
  explicit Clipper(const std::vector<torch::Tensor>& parameters) {
    for (const auto& p : parameters) {
      if (p.grad().defined()) grads_.push_back(p.grad());
    }
    measure();
  }

  double norm() const { return norm_; }
  bool finite() const { return std::isfinite(norm_); }
  void clip(double max_norm) {
    const double coefficient = max_norm / (norm_ + kEps);
    if (coefficient >= 1) return;
    for (auto& g : grads_) g.mul_(coefficient);
  }

 private:
  static constexpr double kEps = 1e-6;

  void measure() {
    double sum = 0;
    for (const auto& g : grads_) {
      const double n = g.to(torch::kFloat64).norm().item<double>();
      sum += n * n;
    }
    norm_ = std::sqrt(sum);
  }

  std::vector<torch::Tensor> grads_;
  double norm_ = 0;
};

double total_norm(const std::vector<torch::Tensor>& parameters) {
  return Clipper(parameters).norm();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  Clipper clipper(parameters);
  clipper.clip(max_norm);
  return clipper.norm();
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  Clipper clipper(parameters);
  if (!clipper.finite()) throw std::runtime_error("non-finite norm");
  clipper.clip(max_norm);
  return clipper.norm();
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  Clipper(parameters).clip(max_norm);
  return true;
}

}  // namespace clipping
