#include "lists.hpp"

#include <algorithm>
#include <cmath>

namespace gradlab::clipping_checks {
namespace {

int64_t element_count(const Gradients& gradients) {
  int64_t count = 0;
  for (const auto& gradient : gradients) count += gradient.defined() ? gradient.numel() : 0;
  return count;
}

torch::ScalarType dtype_of(Types types, int index) {
  if (types == Types::kMixed) return index % 2 == 0 ? torch::kFloat32 : torch::kFloat64;
  return types == Types::kFloat32 ? torch::kFloat32 : torch::kFloat64;
}

std::vector<int64_t> draw_shape(Random& random, bool with_elements) {
  const auto size = [&] { return random.integer(1, 5); };
  switch (random.integer(0, with_elements ? 4 : 6)) {
    case 0:
      return {};
    case 1:
      return {size()};
    case 2:
      return {random.integer(2, 24)};
    case 3:
      return {size(), size()};
    case 4:
      return {2, size(), 3};
    case 5:
      return {0};
    default:
      return {size(), 0};
  }
}

}  // namespace

torch::Tensor row(const std::vector<double>& values, torch::ScalarType dtype) {
  return torch::tensor(values, torch::kFloat64).to(dtype);
}

torch::Tensor scalar(double value, torch::ScalarType dtype) {
  return torch::full({}, value, dtype);
}

Types types_of(int index) {
  constexpr Types kAll[] = {Types::kFloat32, Types::kFloat64, Types::kMixed};
  return kAll[index % 3];
}

Gradients draw_gradients(Random& random, int count, Types types) {
  Gradients gradients;
  for (int i = 0; i < count; ++i) {
    gradients.push_back(random.tensor(draw_shape(random, i == 0), dtype_of(types, i)));
  }
  return gradients;
}

torch::Tensor draw_strided(Random& random, torch::ScalarType dtype) {
  const auto columns = random.integer(2, 4);
  return random.tensor({random.integer(2, 4), 2 * columns}, dtype).slice(1, 0, 2 * columns, 2);
}

torch::Tensor draw_transposed(Random& random, torch::ScalarType dtype) {
  return random.tensor({random.integer(2, 4), random.integer(5, 6)}, dtype).t();
}

double exact_norm(const Gradients& gradients) {
  double sum = 0;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) sum += gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

Gradients brought_to(Gradients gradients, double norm) {
  const double factor = norm / exact_norm(gradients);
  for (auto& gradient : gradients) {
    if (gradient.defined()) gradient.mul_(factor);  // in place: keeps the layout
  }
  return gradients;
}

Case list_of(Random& random, const Gradients& gradients, const std::vector<size_t>& frozen) {
  Case in;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const auto& gradient = gradients[i];
    auto value = gradient.defined() ? random.tensor(gradient.sizes(), gradient.scalar_type())
                                    : random.tensor({2, 2}, torch::kFloat32);
    const bool is_frozen = std::find(frozen.begin(), frozen.end(), i) != frozen.end();
    in.parameter(std::move(value), gradient, !is_frozen);
  }
  return in;
}

Case clip_case(Random& random, const Gradients& gradients, double max_norm,
               const std::vector<size_t>& frozen) {
  return list_of(random, gradients, frozen).number("max_norm", max_norm);
}

Case draw_large(Random& random, int index) {
  const auto gradients = draw_gradients(random, 1 + index % 12, types_of(index));
  // A norm of 1 and more: what epsilon does is then below the tolerance, and has its own check.
  const double norm = std::pow(10, random.uniform(0, 3));
  const double ratio = index == 3 ? random.uniform(1.0002, 1.001)
                                  : std::pow(10, random.uniform(0.3, 3));
  return clip_case(random, brought_to(gradients, norm), norm / ratio);
}

Case draw_small(Random& random, int index) {
  const auto gradients = draw_gradients(random, 1 + index % 12, types_of(index));
  const double max_norm = index == 3 ? 0.02 : std::pow(10, random.uniform(-2, 2));
  const double ratio = index == 3 ? 0.9895 : std::pow(10, random.uniform(-3, -0.01));
  return clip_case(random, brought_to(gradients, max_norm * ratio), max_norm);
}

double norm_tolerance(const Gradients& gradients) {
  return std::max(1e-5, static_cast<double>(element_count(gradients)) * 0x1p-25);
}

Tolerance clip_tolerance(const Case& in) {
  return {.absolute = 0, .relative = norm_tolerance(in.gradients()) + 0x1p-21};
}

}  // namespace gradlab::clipping_checks
