#include "cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/shrink.hpp"

namespace gradlab::loss_scaling_checks {
namespace {

// Shown with a failed case: the experiment takes the flags under the same name.
constexpr const char* kUpdates = "found_inf (1 true, 0 false) arguments";

bool is_power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::isfinite(value) && std::frexp(value, &exponent) == 0.5;
}

// Which cases the contract decides: one may be made smaller for display only while it is such.

double smallest_normal(torch::ScalarType dtype) {
  switch (dtype) {
    case torch::kFloat16:
      return 0x1p-14;
    case torch::kFloat64:
      return std::numeric_limits<double>::min();
    default:
      return std::numeric_limits<float>::min();
  }
}

// LibTorch's own gradient.mul_(1 / scale) rounds the number to a half type first.
bool holds_inverse(torch::ScalarType dtype, double scale) {
  if (!at::isReducedFloatingType(dtype)) return true;
  return scalar(1 / scale, dtype).item<double>() * scale == 1;
}

bool decides_unscaling(const Case& in) {
  const double scale = in.number("scale");
  if (!(scale >= 1e-37 && scale <= 1e37)) return false;
  return std::all_of(in.gradients().begin(), in.gradients().end(), [&](const auto& gradient) {
    if (!gradient.defined()) return true;
    if (!holds_inverse(gradient.scalar_type(), scale)) return false;
    const auto before = gradient.to(torch::kFloat64);
    const auto after = before / scale;
    const auto rounded = after.to(gradient.scalar_type());
    const auto normal = after.abs() >= smallest_normal(gradient.scalar_type());
    return before.isfinite().eq(rounded.isfinite()).all().template item<bool>() &&
           (normal | (before == 0) | before.isnan()).all().template item<bool>();
  });
}

bool decides_update(const Case& in) {
  const double scale = in.number("scale");
  const auto tracker = in.integer("growth_tracker");
  return scale > 0 && std::isfinite(static_cast<float>(scale)) && in.number("growth_factor") > 1 &&
         in.number("backoff_factor") > 0 && in.number("backoff_factor") < 1 && tracker >= 0 &&
         tracker < in.integer("growth_interval");
}

bool decides_float16(const Case& in) {
  if (in.all_numbers().contains("scale") && !is_power_of_two(in.number("scale"))) return false;
  return std::all_of(in.gradients().begin(), in.gradients().end(), [](const auto& gradient) {
    return !gradient.defined() || gradient.isfinite().all().template item<bool>();
  });
}

bool decided_by_the_contract(const Case& in) {
  if (in.all_tensors().contains(kUpdates)) return decides_update(in);
  if (in.all_tensors().contains("parameters")) return decides_unscaling(in);
  return decides_float16(in);
}

[[maybe_unused]] const bool kBounds = shrink_only_to(decided_by_the_contract);

std::vector<int64_t> draw_shape(Random& random) {
  const auto size = [&] { return random.integer(1, 4); };
  switch (random.integer(0, 3)) {
    case 0:
      return {size()};
    case 1:
      return {random.integer(2, 12)};
    case 2:
      return {size(), size()};
    default:
      return {2, size(), 2};
  }
}

// digits * 10^exponent, rounded once: the number that its decimal text means.
double decimal(double digits, int exponent) {
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent < 0 ? digits / power : digits * power;
}

torch::Tensor parameter_for(Random& random, const torch::Tensor& gradient) {
  if (!gradient.defined()) return random.tensor({2}, torch::kFloat32);
  return random.tensor(gradient.sizes(), gradient.scalar_type());
}

}  // namespace

torch::Tensor row(const std::vector<double>& values, torch::ScalarType dtype) {
  return torch::tensor(values, torch::kFloat64).to(dtype);
}

torch::Tensor scalar(double value, torch::ScalarType dtype) {
  return torch::full({}, value, dtype);
}

torch::Tensor draw_values(Random& random, torch::IntArrayRef shape, torch::ScalarType dtype,
                          int exponent) {
  auto values = torch::empty(shape, torch::kFloat64);
  double* data = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double value = decimal(static_cast<double>(random.integer(10, 99)), exponent);
    data[i] = random.chance(0.5) ? value : -value;
  }
  return values.to(dtype);
}

Gradients draw_gradients(Random& random, int count, torch::ScalarType dtype, int exponent) {
  Gradients gradients;
  for (int i = 0; i < count; ++i) {
    gradients.push_back(draw_values(random, draw_shape(random), dtype, exponent));
  }
  return gradients;
}

torch::Tensor draw_strided(Random& random, torch::ScalarType dtype) {
  const auto columns = random.integer(2, 3);
  return draw_values(random, {random.integer(2, 3), 2 * columns}, dtype)
      .slice(1, 0, 2 * columns, 2);
}

torch::Tensor draw_transposed(Random& random, torch::ScalarType dtype) {
  return draw_values(random, {random.integer(2, 3), random.integer(4, 5)}, dtype).t();
}

double draw_power(Random& random, int64_t low, int64_t high) {
  return std::ldexp(1.0, static_cast<int>(random.integer(low, high)));
}

Case unscale_case(Random& random, const Unscaling& of) {
  Case in;
  size_t at = 0;
  for (size_t group = 0; group < of.groups.size(); ++group) {
    for (const auto& gradient : of.groups[group]) {
      const bool frozen = std::find(of.frozen.begin(), of.frozen.end(), at++) != of.frozen.end();
      in.parameter(parameter_for(random, gradient), gradient, !frozen);
      if (of.groups.size() == 1) continue;
      // A list beside the parameters, so that a case that is made smaller keeps them together.
      in.add("group_of_each", torch::full({}, static_cast<int64_t>(group), torch::kInt64));
    }
  }
  if (of.found_inf_before) in.integer("found_inf_before", 1);
  return in.number("scale", of.scale);
}

TensorRule unscaled(const Case& in) {
  const double scale = in.number("scale");
  Gradients expected;
  for (const auto& gradient : in.gradients()) {
    expected.push_back(gradient.defined()
                           ? (gradient.to(torch::kFloat64) / scale).to(gradient.scalar_type())
                           : gradient);
  }
  if (is_power_of_two(scale)) return BitEqualTo(std::move(expected));
  // Three roundings to float32: of the scale, of 1 / scale, and of the product.
  return CloseTo(std::move(expected), {.absolute = 0, .relative = 3 * 0x1p-24 * 1.01});
}

Case update_case(const Updates& of) {
  Case in;
  for (const int found : of.found_inf) {
    in.add(kUpdates, torch::full({}, static_cast<double>(found), torch::kFloat32));
  }
  return in.number("scale", of.scale)
      .number("growth_factor", of.growth_factor)
      .number("backoff_factor", of.backoff_factor)
      .integer("growth_tracker", of.growth_tracker)
      .integer("growth_interval", of.growth_interval);
}

std::vector<int> clean(size_t count) { return std::vector<int>(count, 0); }

Case list_of(const Gradients& gradients) { return Case().set("gradients", gradients); }

Case count_case(const Gradients& gradients, double scale) {
  return list_of(gradients).number("scale", scale);
}

}  // namespace gradlab::loss_scaling_checks
