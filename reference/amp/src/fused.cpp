#include "gradlab/amp/fused.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/optim/optimizer.h>

#include "clip_event.hpp"
#include "dense_pass.hpp"
#include "errors.hpp"
#include "gradients.hpp"
#include "reported.hpp"
#include "scaler_event.hpp"

namespace gradlab::amp {

// Has the scaler's private half of unscale_.
class UnscaleAndClip {
 public:
  UnscaleAndClip(GradScaler& scaler, torch::optim::Optimizer& optimizer, double max_norm)
      : scaler_(scaler), optimizer_(optimizer), max_norm_(max_norm) {}

  at::Tensor run() {
    if (!scaler_.is_enabled()) return in_two_calls();
    const at::NoGradGuard no_grad;
    // The first checks of unscale_ come with its event; those of gradients must come before.
    const Tensors parameters = parameters_of(optimizer_);
    const Tensors gradients = scaler_.scale_.defined() ? checked(parameters) : Tensors();
    const auto pass = DensePass::over(gradients);
    if (!pass || !scaler_.scale_.is_cpu()) return in_two_calls();
    const DensePass::Total scaled = unscale(*pass);
    return clip(*pass, parameters, gradients, scaled);
  }

 private:
  at::Tensor in_two_calls() {
    scaler_.unscale_(optimizer_);
    return clip_grad_norm_(parameters_of(optimizer_), max_norm_);
  }

  // What unscale_ takes and clip does not: sparse gradients. Everything else unscale_ checks.
  Tensors checked(const Tensors& parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor& gradient = parameters[i].grad();
      if (!gradient.defined() || gradient.layout() == at::kStrided) continue;
      throw errors::unsupported_layout("the gradient of parameter " + std::to_string(i), gradient);
    }
    return scaler_.gradients_of(optimizer_);
  }

  // unscale_, but for the product.
  DensePass::Total unscale(const DensePass& pass) {
    const Reported reported([&] { return scaler_event(Call::kUnscale, scaler_, &optimizer_); });
    scaler_.require_initialised("unscale_");
    auto& state = scaler_.state_of(optimizer_);
    scaler_.require_unscalable(state);
    inverse_ = static_cast<double>(scaler_.inverse_scale().item<float>());
    const DensePass::Total scaled = pass.measure();
    state.found_inf = {at::full({}, scaled.finite ? 0.0 : 1.0, at::kFloat)};
    state.stage = Stage::kUnscaled;
    return scaled;
  }

  at::Tensor clip(const DensePass& pass, const Tensors& parameters, const Tensors& gradients,
                  const DensePass::Total& scaled) {
    Reported reported([&] { return clip_event(Call::kClipGradNorm, parameters, max_norm_); });
    const double unscaled = scaled.norm * inverse_;
    at::Tensor norm;
    {
      Reported part([&] { return clip_event(Call::kGetTotalNorm, gradients); });
      norm = part.total_norm(pass.as_norm(unscaled));
    }
    const Reported part(
        [&] { return clip_event(Call::kClipGradsWithNorm, parameters, max_norm_, norm); });
    pass.multiply(inverse_ * clip_coefficient(unscaled, max_norm_));
    return reported.total_norm(norm);
  }

  GradScaler& scaler_;
  torch::optim::Optimizer& optimizer_;
  double max_norm_;
  double inverse_ = 1;
};

at::Tensor unscale_and_clip_(GradScaler& scaler, torch::optim::Optimizer& optimizer,
                             double max_norm) {
  return UnscaleAndClip(scaler, optimizer, max_norm).run();
}

}  // namespace gradlab::amp
