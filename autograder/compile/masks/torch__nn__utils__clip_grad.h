// Stands in the sandbox where LibTorch has its own clipping: the same declarations, and any use is
// a compile error. So torch/torch.h can still be included, and copied declarations do not help.
#pragma once

#include <torch/types.h>

#include <initializer_list>
#include <vector>

#define GRADLAB_FORBIDDEN __attribute__((unavailable("this lab asks you to write it")))

namespace torch::nn::utils {

GRADLAB_FORBIDDEN double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                         double norm_type = 2.0, bool error_if_nonfinite = false);
GRADLAB_FORBIDDEN double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm,
                                         double norm_type = 2.0, bool error_if_nonfinite = false);
GRADLAB_FORBIDDEN double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0,
                                         bool error_if_nonfinite = false);
GRADLAB_FORBIDDEN void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
GRADLAB_FORBIDDEN void clip_grad_value_(std::initializer_list<Tensor> parameters,
                                        double clip_value);
GRADLAB_FORBIDDEN void clip_grad_value_(Tensor parameter, double clip_value);

}  // namespace torch::nn::utils

#undef GRADLAB_FORBIDDEN
