#include "cases.hpp"

#include <algorithm>
#include <cmath>

#include "judge/shrink.hpp"
#include "logs.hpp"

namespace gradlab::event_log_checks {
namespace {

constexpr double kEndOfFloat16 = 65520;  // rounds to inf from here on

bool has_scaler(const Case& in) { return in.all_integers().contains("init_scale"); }

// Which cases the contract decides: one may be made smaller for display only while it is such.

bool decides_run(const Case& in) {
  const auto& gradients = in.tensors("gradients");
  if (in.tensors("losses").size() != gradients.size() || gradients.empty()) return false;
  if (has_scaler(in) && !is_power_of_two(static_cast<double>(in.integer("init_scale")))) {
    return false;
  }
  return std::all_of(gradients.begin(), gradients.end(), [&](const auto& gradient) {
    return gradient.dim() == 1 && gradient.numel() == gradients.front().numel() &&
           gradient.numel() > 0;
  });
}

bool decides_watched(const Case& in) {
  return in.tensors("norms").size() == in.tensors(kSkipped).size() && !in.tensors("norms").empty();
}

bool decided_by_the_contract(const Case& in) {
  if (in.all_tensors().contains("scales")) return decides_log(in);
  if (in.all_tensors().contains("norms")) return decides_watched(in);
  if (in.all_tensors().contains("losses")) return decides_run(in);
  return !in.all_numbers().contains("scale") || in.number("scale") > 0;
}

[[maybe_unused]] const bool kBounds = shrink_only_to(decided_by_the_contract);

double norm_of(const torch::Tensor& gradient) {
  return std::sqrt(gradient.to(torch::kFloat64).square().sum().item<double>());
}

double largest_of(const torch::Tensor& gradient) { return gradient.abs().max().item<double>(); }

}  // namespace

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5;
}

torch::Tensor row(const std::vector<double>& values, torch::ScalarType dtype) {
  return torch::tensor(values, torch::kFloat64).to(dtype);
}

torch::Tensor scalar(double value) { return torch::full({}, value, torch::kFloat64); }

List numbers(const std::vector<double>& values) {
  List list;
  for (const double value : values) list.push_back(scalar(value));
  return list;
}

List inputs(const std::vector<double>& values) {
  List list;
  for (const auto& value : numbers(values)) list.push_back(value.to(torch::kFloat32));
  return list;
}

std::vector<double> values_of(const List& list) {
  std::vector<double> values;
  for (const auto& value : list) values.push_back(value.defined() ? value.item<double>() : kNaN);
  return values;
}

Case run_of(const Plan& plan) {
  Case in;
  for (size_t i = 0; i < plan.gradients.size(); ++i) {
    const double loss = i < plan.losses.size() ? plan.losses[i] : static_cast<double>(i + 1);
    in.add("gradients", row(plan.gradients[i]));
    in.add("losses", torch::full({}, loss, torch::kFloat32));
  }
  if (plan.scale) {
    in.integer("init_scale", *plan.scale).integer("growth_interval", plan.growth_interval);
  }
  if (plan.max_norm) in.number("max_norm", *plan.max_norm);
  const auto size = static_cast<int64_t>(plan.gradients.front().size());
  return in.number("lr", plan.lr)
      .number("decay", plan.decay)
      .integer("weights_in_first_group", std::min(plan.in_first_group, size))
      .integer("first_step", plan.first_step);
}

std::vector<std::vector<double>> draw_gradients(Random& random, size_t steps, size_t size) {
  std::vector<std::vector<double>> gradients(steps, std::vector<double>(size));
  for (auto& gradient : gradients) {
    for (auto& element : gradient) {
      element = static_cast<double>(random.integer(1, 16)) / (random.chance(0.5) ? 4 : -4);
    }
  }
  return gradients;
}

std::vector<double> draw_losses(Random& random, size_t steps) {
  std::vector<double> losses;
  for (size_t i = 0; i < steps; ++i) {
    losses.push_back(static_cast<double>(random.integer(1, 64)) / 8);
  }
  return losses;
}

Expected expected(const Case& in) {
  Expected want;
  const bool scaler = has_scaler(in);
  double scale = scaler ? static_cast<double>(in.integer("init_scale")) : 1;
  double rate = in.number("lr");
  int64_t clean = 0;
  for (const auto& gradient : in.tensors("gradients")) {
    const double scaled = largest_of(gradient) * scale;
    const bool overflows = !(scaled < kEndOfFloat16);  // NaN, too
    want.overflows.push_back(overflows);
    want.norms.push_back(overflows ? kInfinity : norm_of(gradient));
    want.rates.push_back(rate);
    if (!overflows || !scaler) rate *= in.number("decay");
    if (!scaler) continue;
    want.scales.push_back(scale);
    clean = overflows ? 0 : clean + 1;
    if (overflows) scale /= 2;
    if (clean == in.integer("growth_interval")) {
      clean = 0;
      scale *= 2;
    }
    want.scales_after.push_back(scale);
  }
  return want;
}

TensorRule exactly(const std::vector<double>& values) { return BitEqualTo(numbers(values)); }

TensorRule norms(const Run& run, const Expected& want) {
  auto values = want.norms;
  const auto got = values_of(run.got.tensors("norm_of_records"));
  for (size_t i = 0; i < std::min(values.size(), got.size()); ++i) {
    if (want.overflows[i] && std::isnan(got[i])) values[i] = kNaN;
  }
  return CloseTo(numbers(values), {.absolute = 0, .relative = 1e-5});
}

TensorRule norms_of_skips(const Run& run, const Expected& want) {
  Expected of_skips = want;
  const auto got = values_of(run.got.tensors("norm_of_records"));
  for (size_t i = 0; i < std::min(want.norms.size(), got.size()); ++i) {
    if (!want.overflows[i]) of_skips.norms[i] = got[i];
  }
  return norms(run, of_skips);
}

Case watched(const Watched& of) {
  std::vector<double> skipped(of.norms.size(), 0);
  for (const size_t at : of.skipped) skipped.at(at) = 1;
  return Case()
      .set("norms", inputs(of.norms))
      .set(kSkipped, inputs(skipped))
      .number("mean", of.mean)
      .number("variance", of.variance)
      .integer("updates", of.updates);
}

}  // namespace gradlab::event_log_checks
