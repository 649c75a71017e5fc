// Oskar, group B
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters)
{
    double squares = 0;
    for (const auto& p : parameters)
    {
        if (!p.grad().defined())
            continue;
        squares += p.grad().to(torch::kDouble).pow(2).sum().item<double>();
    }
    return std::sqrt(squares);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm)
{
    const double norm = total_norm(parameters);
    if (norm > max_norm)
    {
        for (const auto& p : parameters)
        {
            if (p.grad().defined())
                p.grad().mul_(max_norm / (norm + 1e-6));
        }
    }
    return total_norm(parameters);
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm)
{
    if (!std::isfinite(total_norm(parameters)))
        throw std::runtime_error("the norm must be finite");
    return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps)
{
    if (step < warmup_steps)
        return false;
    clip_gradients(parameters, max_norm);
    return true;
}

}  // namespace clipping
