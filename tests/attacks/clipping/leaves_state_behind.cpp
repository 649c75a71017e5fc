// Right answers, and after each one LibTorch, the FPU, the streams and the locale are not as
// before. Nothing of it may spoil the next case: full marks.
#include <ATen/Parallel.h>
#include <unistd.h>

#include <cfenv>
#include <cmath>
#include <iostream>
#include <locale>
#include <stdexcept>

#include "clipping.hpp"

namespace {

struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

void spoil() {
  at::set_num_threads(4);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  at::globalContext().setDeterministicAlgorithms(true, true);
  at::globalContext().setFlushDenormal(true);
  c10::GradMode::set_enabled(false);
  std::fesetround(FE_UPWARD);
  std::locale::global(std::locale(std::locale(), new Comma));
  std::cout << std::hex << std::scientific;
  std::cout.setstate(std::ios::badbit);
  close(0);
  if (chdir("/") != 0) return;
}

}  // namespace

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& p : parameters) {
    if (p.grad().defined()) sum += p.grad().to(torch::kDouble).square().sum().item<double>();
  }
  spoil();
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double coef = max_norm / (norm + 1e-6);
  for (const auto& p : parameters) {
    if (coef < 1 && p.grad().defined()) p.grad().mul_(coef);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error("not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step >= warmup_steps) clip_gradients(parameters, max_norm);
  return step >= warmup_steps;
}

}  // namespace clipping
