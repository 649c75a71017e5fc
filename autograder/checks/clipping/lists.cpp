#include "lists.hpp"

#include <algorithm>
#include <cmath>

#include "judge/shrink.hpp"

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

// digits * 10^exponent, rounded once: the number that its decimal text means.
double decimal(double digits, int exponent) {
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent < 0 ? digits / power : digits * power;
}

double rounded(double value, int digits, double (*to_whole)(double)) {
  const int exponent = static_cast<int>(std::floor(std::log10(value))) - digits + 1;
  return decimal(to_whole(decimal(value, -exponent)), exponent);
}

template <typename Draw>
torch::Tensor filled(torch::IntArrayRef shape, torch::ScalarType dtype, Draw draw) {
  auto values = torch::empty(shape, torch::kFloat64);
  double* data = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = draw();
  return values.to(dtype);
}

double signed_by(Random& random, double value) { return random.chance(0.5) ? value : -value; }

// Odd sixteenths, all above 1: their norm is not mistaken for that of a gradient.
torch::Tensor draw_parameter(Random& random, torch::IntArrayRef shape, torch::ScalarType dtype) {
  return filled(shape, dtype, [&] {
    return signed_by(random, static_cast<double>(2 * random.integer(8, 79) + 1) / 16);
  });
}

// A case may be made smaller for display while it stays outside the band. Two lists in one case
// stay as they are: their border would move.
bool outside_the_band(const Case& in) {
  if (in.all_integers().contains("first")) return false;
  if (!in.all_numbers().contains("max_norm")) return true;
  const double max_norm = in.number("max_norm");
  const double norm = exact_norm(in.gradients());
  if (!std::isfinite(norm) || norm >= 1.0001 * max_norm) return true;
  return max_norm >= 1e-2 && norm <= 0.99 * max_norm - 2e-6;
}

[[maybe_unused]] const bool kBounds = shrink_only_to(outside_the_band);

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

torch::Tensor draw_values(Random& random, torch::IntArrayRef shape, torch::ScalarType dtype,
                          int exponent) {
  const bool narrow = dtype == torch::kFloat16 || dtype == torch::kBFloat16;
  return filled(shape, dtype, [&] {
    return signed_by(random, narrow
                                 ? static_cast<double>(random.integer(8, 79)) / 8
                                 : decimal(static_cast<double>(random.integer(10, 99)), exponent));
  });
}

Gradients draw_gradients(Random& random, int count, Types types, int exponent) {
  Gradients gradients;
  for (int i = 0; i < count; ++i) {
    const auto shape = draw_shape(random, i == 0);
    gradients.push_back(draw_values(random, shape, dtype_of(types, i), exponent));
  }
  return gradients;
}

torch::Tensor draw_strided(Random& random, torch::ScalarType dtype) {
  const auto columns = random.integer(2, 4);
  return draw_values(random, {random.integer(2, 4), 2 * columns}, dtype)
      .slice(1, 0, 2 * columns, 2);
}

torch::Tensor draw_transposed(Random& random, torch::ScalarType dtype) {
  return draw_values(random, {random.integer(2, 4), random.integer(5, 6)}, dtype).t();
}

double exact_norm(const Gradients& gradients) {
  double sum = 0;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) sum += gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

double rounded_down(double value, int digits) { return rounded(value, digits, std::floor); }
double rounded_up(double value, int digits) { return rounded(value, digits, std::ceil); }

Case list_of(Random& random, const Gradients& gradients, const std::vector<size_t>& frozen) {
  Case in;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const auto& gradient = gradients[i];
    auto value = gradient.defined()
                     ? draw_parameter(random, gradient.sizes(), gradient.scalar_type())
                     : draw_parameter(random, {2, 2}, torch::kFloat32);
    const bool is_frozen = std::find(frozen.begin(), frozen.end(), i) != frozen.end();
    in.parameter(std::move(value), gradient, !is_frozen);
  }
  return in;
}

Case clip_case(Random& random, const Gradients& gradients, double max_norm,
               const std::vector<size_t>& frozen) {
  return list_of(random, gradients, frozen).number("max_norm", max_norm);
}

std::vector<WorkedClip> worked_large() {
  return {
      {{row({-3, 4})}, 1, {row({-0.6, 0.8})}},
      {{row({3, 0}), row({0, -4})}, 1, {row({0.6, 0}), row({0, -0.8})}},
      {{row({300, -400})}, 1, {row({0.6, -0.8})}},
  };
}

std::vector<WorkedClip> worked_small() {
  std::vector<WorkedClip> worked{
      {{row({0.3})}, 1, {}},
      {{row({0.3, -0.4})}, 1, {}},
      {{row({3, 4})}, 6, {}},         // 3 + 4 is more than 6, and so are 9 + 16
      {{row({3}), row({4})}, 6, {}},  // the sum of two norms is, too
      {{row({0, 0}), scalar(0)}, 1, {}},
      {{row({0, 0, 0}, torch::kFloat64)}, 0.01, {}},
      {{row({3e-8}), row({-4e-8})}, 0.01, {}},
      {{row({5.9e-3}), row({-7.9e-3})}, 0.01, {}},  // norm 0.00986
  };
  for (auto& one : worked) one.clipped = one.gradients;
  return worked;
}

std::vector<Case> cases_of(Random& random, const std::vector<WorkedClip>& worked) {
  std::vector<Case> cases;
  for (const auto& one : worked) cases.push_back(clip_case(random, one.gradients, one.max_norm));
  return cases;
}

Case draw_large(Random& random, int index) {
  // A norm of 1 and more: what epsilon does is then below the tolerance, and has its own check.
  const auto exponent = static_cast<int>(random.integer(-1, 1));
  const auto gradients = draw_gradients(random, 1 + index % 12, types_of(index), exponent);
  const double norm = exact_norm(gradients);
  const double max_norm = index == 3 ? rounded_down(norm / random.uniform(1.0002, 1.001), 5)
                                     : rounded_down(norm / std::pow(10, random.uniform(0.3, 3)), 2);
  return clip_case(random, gradients, max_norm);
}

Case draw_small(Random& random, int index) {
  const auto exponent = index == 3 ? -3 : static_cast<int>(random.integer(-4, 1));
  const auto gradients = draw_gradients(random, 1 + index % 12, types_of(index), exponent);
  const double norm = exact_norm(gradients);
  const double max_norm =
      index == 3 ? rounded_up(norm / 0.9895, 5)
                 : std::max(0.01, rounded_up(norm * std::pow(10, random.uniform(0.01, 3)), 2));
  return clip_case(random, gradients, max_norm);
}

std::vector<Case> large_cases(Random& random, int count) {
  auto cases = cases_of(random, worked_large());
  for (int i = 0; i < count; ++i) cases.push_back(draw_large(random, i));
  return cases;
}

std::vector<Case> small_cases(Random& random, int count) {
  auto cases = cases_of(random, worked_small());
  for (int i = 0; i < count; ++i) cases.push_back(draw_small(random, i));
  return cases;
}

TensorRule clipped(const Run& run, size_t index) {
  const auto worked = worked_large();
  return CloseTo(index < worked.size() ? worked[index].clipped : run.want.tensors("gradients"),
                 clip_tolerance(run.in));
}

double norm_tolerance(const Gradients& gradients) {
  return std::max(1e-5, static_cast<double>(element_count(gradients)) * 0x1p-25);
}

Tolerance clip_tolerance(const Case& in) {
  return {.absolute = 0, .relative = norm_tolerance(in.gradients()) + 0x1p-21};
}

}  // namespace gradlab::clipping_checks
