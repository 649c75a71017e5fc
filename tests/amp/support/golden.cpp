#include "support/golden.hpp"

#include <torch/version.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>

namespace golden {
namespace {

std::string folder() {
  const char* other = std::getenv("GRADLAB_GOLDEN");
  if (other != nullptr && *other != '\0') return other;
  const char* root = std::getenv("GRADLAB_ROOT");
  return std::string(root != nullptr ? root : ".") + "/tests/golden";
}

const std::map<std::string, torch::ScalarType>& dtypes() {
  static const std::map<std::string, torch::ScalarType> all = {
      {"float32", torch::kFloat},
      {"float64", torch::kDouble},
      {"float16", torch::kHalf},
      {"bfloat16", torch::kBFloat16},
      {"int64", torch::kLong},
      {"int32", torch::kInt},
      {"complex64", torch::kComplexFloat},
      {"complex128", torch::kComplexDouble},
      {"bool", torch::kBool}};
  return all;
}

testing::AssertionResult same_kind(const torch::Tensor& got, const torch::Tensor& expected) {
  if (got.defined() != expected.defined()) {
    return testing::AssertionFailure() << "one of the two is undefined";
  }
  if (!got.defined()) return testing::AssertionSuccess();
  if (got.scalar_type() != expected.scalar_type() || got.sizes() != expected.sizes()) {
    return testing::AssertionFailure()
           << dtype_name(got.scalar_type()) << " " << got.sizes() << ", expected "
           << dtype_name(expected.scalar_type()) << " " << expected.sizes();
  }
  return testing::AssertionSuccess();
}

bool same_bits(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

bool within(double got, double expected, double relative, double absolute) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <= absolute + relative * std::abs(expected);
}

template <typename Same>
testing::AssertionResult compare(const torch::Tensor& got, const torch::Tensor& expected,
                                 const Same& same) {
  const auto kind = same_kind(got, expected);
  if (!kind || !got.defined()) return kind;
  // Widening every dtype to double loses nothing.
  const auto a = got.detach().to(torch::kDouble).contiguous().reshape(-1);
  const auto b = expected.detach().to(torch::kDouble).contiguous().reshape(-1);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_ptr<double>()[i], y = b.data_ptr<double>()[i];
    if (same(x, y)) continue;
    return testing::AssertionFailure()
           << "element " << i << ": got " << testing::PrintToString(x) << ", expected "
           << testing::PrintToString(y) << ", off by " << std::abs(x - y);
  }
  return testing::AssertionSuccess();
}

}  // namespace

std::vector<Case> cases(const std::string& file) {
  const std::string path = folder() + "/" + file;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("no golden data at " + path);
  Json data = Json::parse(in);
  std::vector<Case> all;
  for (Json& one : data.at("cases")) {
    std::string name = one.at("name");
    all.push_back({std::move(name), std::move(one)});
  }
  return all;
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return std::to_string(info.index) + "_" + name;
}

double number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const std::string text = json;
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "-inf" ? -infinity : infinity;
}

torch::ScalarType dtype(const std::string& name) { return dtypes().at(name); }

std::string dtype_name(torch::ScalarType type) {
  for (const auto& [name, value] : dtypes()) {
    if (value == type) return name;
  }
  return c10::toString(type);
}

torch::Tensor tensor(const Json& json) {
  if (json.is_null()) return {};
  const auto shape = json.at("shape").get<std::vector<int64_t>>();
  return flat(json.at("data"), torch::empty(shape, dtype(json.at("dtype"))));
}

torch::Tensor flat(const Json& data, const torch::Tensor& like) {
  std::vector<double> values;
  for (const Json& value : data) values.push_back(number(value));
  return torch::tensor(values, torch::kDouble).to(like.scalar_type()).reshape(like.sizes());
}

testing::AssertionResult bit_equal(const torch::Tensor& got, const torch::Tensor& expected) {
  return compare(got, expected, same_bits);
}

testing::AssertionResult close(const torch::Tensor& got, const torch::Tensor& expected,
                               double relative, double absolute) {
  return compare(got, expected,
                 [&](double x, double y) { return within(x, y, relative, absolute); });
}

testing::AssertionResult as_recorded(const torch::Tensor& got, const torch::Tensor& expected,
                                     double relative, double absolute) {
#if defined(__x86_64__)
  const bool same =
      TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 11 && __builtin_cpu_supports("avx2") != 0;
#else
  const bool same = false;
#endif
  return same ? bit_equal(got, expected) : close(got, expected, relative, absolute);
}

std::string expected_error(const Json& error) {
  return error.is_null() ? "" : error.at("kind").get<std::string>();
}

}  // namespace golden
