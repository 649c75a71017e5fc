#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

// Uses the _foreach_ functions, like the optimizers in PyTorch do with foreach=True.

namespace clipping {

static std::vector<torch::Tensor> collect_grads(const std::vector<torch::Tensor>& parameters)
{
    std::vector<torch::Tensor> grads;
    grads.reserve(parameters.size());
    for (const auto& p : parameters)
        if (p.grad().defined())
            grads.push_back(p.grad());
    return grads;
}

static double norm_of(const std::vector<torch::Tensor>& grads)
{
    if (grads.empty())   // _foreach_norm does not like empty lists
        return 0.0;
    double sum = 0.0;
    for (const auto& n : at::_foreach_norm(grads)) {
        const double one = n.item<double>();
        sum += one * one;
    }
    return std::sqrt(sum);
}

double total_norm(const std::vector<torch::Tensor>& parameters)
{
    return norm_of(collect_grads(parameters));
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm)
{
    auto grads = collect_grads(parameters);
    const double norm = norm_of(grads);
    const double coef = max_norm / (norm + 1e-6);
    if (coef < 1.0 && !grads.empty())
        at::_foreach_mul_(grads, coef);
    return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm)
{
    const double norm = norm_of(collect_grads(parameters));
    if (std::isnan(norm) || std::isinf(norm))
        throw std::runtime_error("clip_gradients_checked: norm is " + std::to_string(norm));
    return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps)
{
    const bool warm = step >= warmup_steps;
    if (warm)
        clip_gradients(parameters, max_norm);
    return warm;
}

}  // namespace clipping
