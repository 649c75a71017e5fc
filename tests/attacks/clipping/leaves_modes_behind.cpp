// Right answers, and after each one the thread is in modes that nobody leaves: inference, other
// dispatch keys, a forward gradient's level, autocast many deep, a generator in the middle.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <signal.h>

#include <cmath>
#include <stdexcept>

#include "clipping.hpp"

static double norm_of(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& p : parameters) {
    if (p.grad().defined()) sum += p.grad().to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

struct Spoil {
  ~Spoil() {
    new c10::InferenceMode();
    new c10::AutoGradMode(false);
    c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::ADInplaceOrView, true);
    c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutogradCPU, true);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
    for (int i = 0; i < 100; ++i) at::autocast::increment_nesting();
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_IGN);
  }
};

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  const Spoil spoil;
  return norm_of(parameters);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const Spoil spoil;
  const double norm = norm_of(parameters);
  const double coef = max_norm / (norm + 1e-6);
  for (const auto& p : parameters) {
    if (coef < 1 && p.grad().defined()) p.grad().mul_(coef);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(norm_of(parameters))) throw std::runtime_error("not finite");
  const double norm = norm_of(parameters);
  const double coef = max_norm / (norm + 1e-6);
  for (const auto& p : parameters) {
    if (coef < 1 && p.grad().defined()) p.grad().mul_(coef);
  }
  return norm;
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  const Spoil spoil;
  if (step < warmup_steps) return false;
  const double norm = norm_of(parameters);
  const double coef = max_norm / (norm + 1e-6);
  for (const auto& p : parameters) {
    if (coef < 1 && p.grad().defined()) p.grad().mul_(coef);
  }
  return true;
}

}  // namespace clipping
