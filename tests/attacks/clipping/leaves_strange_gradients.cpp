// No attack: gradients of types and layouts that cannot be sent are a mistake, and no forgery.
#include "clipping.hpp"

double clipping::clip_gradients(const std::vector<torch::Tensor>& parameters, double) {
  for (const auto& p : parameters) {
    if (p.grad().defined()) p.mutable_grad() = p.grad().to(torch::kShort);
  }
  return 0;
}

double clipping::clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double) {
  for (const auto& p : parameters) {
    if (p.grad().defined()) p.mutable_grad() = p.grad().to_sparse();
  }
  return 0;
}

bool clipping::clip_after_warmup(const std::vector<torch::Tensor>& parameters, double, int64_t,
                                 int64_t) {
  for (const auto& p : parameters) p.mutable_grad() = torch::zeros({1}).expand({1LL << 40});
  return true;
}
