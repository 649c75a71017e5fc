#include "judge/likeness.hpp"

#include <algorithm>
#include <cmath>

namespace gradlab {
namespace {

// Below it the squares of a float32 vanish: one answer says 0 where another says the truth.
constexpr double kVanishing = 1e-22;

double rounding(torch::ScalarType dtype, double count) {
  switch (dtype) {
    case torch::kFloat64:
      return std::max(1e-9, count * 0x1p-52);
    case torch::kFloat32:
      return std::max(1e-5, count * 0x1p-25);
    case torch::kFloat16:
      return 4e-3;
    case torch::kBFloat16:
      return 3e-2;
    default:
      return 0;
  }
}

double loosest_rounding(const Case& in) {
  double loosest = rounding(torch::kFloat64, 0);
  for (const auto& [name, list] : in.all_tensors()) {
    for (const auto& tensor : list) {
      if (!tensor.defined()) continue;
      const auto count = static_cast<double>(in.element_count());
      loosest = std::max(loosest, rounding(tensor.scalar_type(), count));
    }
  }
  return loosest;
}

class Likeness {
 public:
  explicit Likeness(const Case& in) : relative_(loosest_rounding(in)) {}

  bool operator()(double a, double b) const {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    return std::abs(a - b) <= relative_ * std::max(std::abs(a), std::abs(b)) + kVanishing;
  }

  bool operator()(const torch::Tensor& a, const torch::Tensor& b) const {
    if (a.defined() != b.defined()) return false;
    if (!a.defined()) return true;
    if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
    const auto left = a.detach().to(torch::kFloat64).contiguous();
    const auto right = b.detach().to(torch::kFloat64).contiguous();
    const double* l = left.const_data_ptr<double>();
    const double* r = right.const_data_ptr<double>();
    for (int64_t i = 0; i < left.numel(); ++i) {
      if (!(*this)(l[i], r[i])) return false;
    }
    return true;
  }

  bool operator()(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), *this);
  }

  // Maps from names to values.
  template <typename Values>
  bool all(const Values& a, const Values& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const auto& one, const auto& two) {
                        return one.first == two.first && (*this)(one.second, two.second);
                      });
  }

 private:
  double relative_;
};

// The type in front of the message is compared, the message is not: words differ freely.
std::string thrown_type(const std::string& threw) { return threw.substr(0, threw.find(": ")); }

// "what" is a message in the student's own words, and a trace only explains.
std::map<std::string, std::string> words_of_ours(const Observation& seen) {
  auto words = seen.all_words();
  words.erase("what");
  words.erase(Observation::kTrace);
  return words;
}

}  // namespace

bool alike(const Case& in, const Observation& a, const Observation& b) {
  const Likeness like(in);
  return a.fault == b.fault && thrown_type(a.threw) == thrown_type(b.threw) &&
         words_of_ours(a) == words_of_ours(b) && like.all(a.all_numbers(), b.all_numbers()) &&
         like.all(a.all_tensors(), b.all_tensors());
}

}  // namespace gradlab
