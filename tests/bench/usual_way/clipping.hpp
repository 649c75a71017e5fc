#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace clipping {
double total_norm(const std::vector<torch::Tensor>& parameters);
double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm);
double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm);
bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps);
}  // namespace clipping
