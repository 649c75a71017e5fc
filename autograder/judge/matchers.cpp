#include "judge/matchers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "judge/context.hpp"

namespace gradlab {
namespace {

// Equal by kind: both NaN, or the same infinity. Otherwise both must be finite to be compared.
bool same_kind_non_finite(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isinf(a) && a == b;
}

// How far `got` lies from the nearer end of [low, high]; infinite where the kinds differ.
double distance(double got, double low, double high) {
  if (same_kind_non_finite(got, low) || same_kind_non_finite(got, high)) return 0;
  if (!std::isfinite(got) || !std::isfinite(low) || !std::isfinite(high)) return INFINITY;
  return std::max({0.0, low - got, got - high});
}

// Decides one comparison and remembers how near it was.
bool within(double off_by, double allowed) {
  if (allowed > 0) context().came_near(off_by / allowed);
  return std::isfinite(off_by) &&
         off_by <= allowed;  // another kind is never near, whatever is allowed
}

std::string shape_of(const torch::Tensor& tensor) {
  if (!tensor.defined()) return "none";
  return fmt::format("{} of shape {}", c10::toString(tensor.scalar_type()),
                     fmt::format("{}", c10::str(tensor.sizes())));
}

std::vector<int64_t> coordinates(int64_t flat, torch::IntArrayRef sizes) {
  std::vector<int64_t> at(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    at[d] = flat % sizes[d];
    flat /= sizes[d];
  }
  return at;
}

// The element-wise part of every tensor rule: values of `got` against [low, high] + tolerance.
class ElementRule {
 public:
  ElementRule(Tolerance tolerance, std::string note, bool bitwise)
      : tolerance_(tolerance), note_(std::move(note)), bitwise_(bitwise) {}

  std::optional<Mismatch> operator()(const std::vector<torch::Tensor>& got,
                                     const std::vector<torch::Tensor>& low,
                                     const std::vector<torch::Tensor>& high) const {
    if (got.size() != low.size()) {
      return simple(-1, fmt::format("{} tensors", low.size()), fmt::format("{}", got.size()));
    }
    std::optional<Mismatch> first;
    int64_t differing = 0;
    int64_t total = 0;
    for (size_t t = 0; t < got.size(); ++t) {
      const auto index = static_cast<int64_t>(t);
      if (got[t].defined() != low[t].defined() ||
          (got[t].defined() &&
           (got[t].sizes() != low[t].sizes() || got[t].scalar_type() != low[t].scalar_type()))) {
        return simple(index, shape_of(low[t]), shape_of(got[t]));
      }
      if (!got[t].defined()) continue;
      total += got[t].numel();
      if (bitwise_ && equal_bits(got[t], low[t])) continue;
      differing += compare(index, got[t], low[t], high[t], first);
    }
    if (first) {
      first->differing = differing;
      first->of = total;
    }
    return first;
  }

 private:
  static bool equal_bits(const torch::Tensor& a, const torch::Tensor& b) {
    const auto left = a.detach().contiguous();
    const auto right = b.detach().contiguous();
    return left.nbytes() == right.nbytes() &&
           std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) == 0;
  }

  static std::optional<Mismatch> simple(int64_t tensor, std::string expected, std::string got) {
    Mismatch mismatch;
    mismatch.tensor = tensor;
    mismatch.expected = std::move(expected);
    mismatch.got = std::move(got);
    return mismatch;
  }

  int64_t compare(int64_t index, const torch::Tensor& got, const torch::Tensor& low,
                  const torch::Tensor& high, std::optional<Mismatch>& first) const {
    const auto wide = [](const torch::Tensor& t) {
      return t.detach().to(torch::kFloat64).contiguous();
    };
    const auto got_wide = wide(got);
    const auto low_wide = wide(low);
    const auto high_wide = wide(high);
    const double* g = got_wide.const_data_ptr<double>();
    const double* l = low_wide.const_data_ptr<double>();
    const double* h = high_wide.const_data_ptr<double>();
    int64_t differing = 0;
    for (int64_t i = 0; i < got.numel(); ++i) {
      const double least = std::min(l[i], h[i]);
      const double most = std::max(l[i], h[i]);
      const double off = std::isnan(l[i]) || std::isnan(h[i]) ? distance(g[i], l[i], h[i])
                                                              : distance(g[i], least, most);
      const double allowed =
          tolerance_.absolute +
          (tolerance_.relative > 0 ? tolerance_.relative * std::max(std::abs(l[i]), std::abs(h[i]))
                                   : 0);
      // Bits can differ where values do not: -0 for 0, or another NaN. Neither is a mistake.
      if (within(off, std::isfinite(allowed) ? allowed : 0)) continue;
      ++differing;
      if (first) continue;
      first.emplace();
      first->tensor = index;
      first->element = coordinates(i, got.sizes());
      const auto [expected, shown_got] = shown_apart(l[i], g[i], got.scalar_type());
      first->expected = note_.empty() ? expected : fmt::format("{} ({})", expected, note_);
      first->got = shown_got;
      first->expected_number = l[i];
      first->got_number = g[i];
      first->off_by = off;
      first->allowed = allowed;
    }
    return differing;
  }

  Tolerance tolerance_;
  std::string note_;
  bool bitwise_;
};

NumberRule number_rule(std::vector<double> low, std::vector<double> high, double allowed,
                       std::string in_words) {
  return [=](double got) -> std::optional<Mismatch> {
    double nearest = INFINITY;
    for (size_t i = 0; i < low.size(); ++i) {
      const double off = distance(got, low[i], high[i]);
      if (off < nearest || i == 0) nearest = off;
    }
    if (within(nearest, allowed)) return std::nullopt;
    Mismatch mismatch;
    std::tie(mismatch.expected, mismatch.got) = shown_apart(low.front(), got);
    if (!in_words.empty()) mismatch.expected = in_words;
    mismatch.expected_number = low.front();
    mismatch.got_number = got;
    mismatch.off_by = nearest;
    mismatch.allowed = allowed;
    return mismatch;
  };
}

using Compare = std::function<std::optional<Mismatch>(const Observation&)>;

class ValueMatcher : public testing::MatcherInterface<const Observation&> {
 public:
  ValueMatcher(std::string name, Compare compare)
      : name_(std::move(name)), compare_(std::move(compare)) {}

  bool MatchAndExplain(const Observation& seen,
                       testing::MatchResultListener* listener) const override {
    std::optional<Mismatch> mismatch;
    try {
      mismatch = compare_(seen);
    } catch (const std::runtime_error& error) {
      // An experiment always adds what it was asked for; an answer without it was not its own.
      context().stopped = true;
      context().fault = Fault::kForged;
      context().fault_detail = error.what();
      throw;
    }
    if (!mismatch) return true;
    mismatch->value = name_;
    *listener << mismatch->place() << ": expected " << mismatch->expected << ", got "
              << mismatch->got;
    context().mismatch(*mismatch);
    return false;
  }
  void DescribeTo(std::ostream* out) const override { *out << "the right " << name_; }

 private:
  std::string name_;
  Compare compare_;
};

testing::Matcher<const Observation&> matcher(std::string name, Compare compare) {
  return testing::Matcher<const Observation&>(
      new ValueMatcher(std::move(name), std::move(compare)));
}

}  // namespace

NumberRule Near(double expected, double allowed) {
  return number_rule({expected}, {expected}, allowed, "");
}

NumberRule NearAnyOf(std::vector<double> expected, double allowed) {
  return number_rule(expected, expected, allowed, "");
}

NumberRule Between(double low, double high, std::string in_words) {
  return number_rule({low}, {high}, 0, std::move(in_words));
}

TensorRule BitEqualTo(std::vector<torch::Tensor> expected, std::string note) {
  return [rule = ElementRule({}, std::move(note), true), expected = std::move(expected)](
             const auto& got) { return rule(got, expected, expected); };
}

TensorRule CloseTo(std::vector<torch::Tensor> expected, Tolerance tolerance) {
  return [rule = ElementRule(tolerance, "", false), expected = std::move(expected)](
             const auto& got) { return rule(got, expected, expected); };
}

TensorRule BetweenTensors(std::vector<torch::Tensor> low, std::vector<torch::Tensor> high,
                          Tolerance tolerance, std::string in_words) {
  return [rule = ElementRule(tolerance, std::move(in_words), false), low = std::move(low),
          high = std::move(high)](const auto& got) { return rule(got, low, high); };
}

TensorRule FlagsEqualTo(const std::vector<bool>& expected) {
  std::vector<torch::Tensor> numbers;
  for (const bool flag : expected)
    numbers.push_back(torch::full({}, flag ? 1 : 0, torch::kFloat64));
  return [rule = BitEqualTo(numbers)](const std::vector<torch::Tensor>& got) {
    auto mismatch = rule(got);
    if (mismatch && mismatch->expected_number) {
      const auto in_words = [](double number) { return number == 1 ? "true" : "false"; };
      mismatch->expected = in_words(*mismatch->expected_number);
      mismatch->got = in_words(*mismatch->got_number);
      mismatch->off_by.reset();
      mismatch->allowed.reset();
    }
    return mismatch;
  };
}

testing::Matcher<const Observation&> Number(std::string name, NumberRule rule) {
  return matcher(name, [name, rule](const Observation& seen) { return rule(seen.number(name)); });
}

testing::Matcher<const Observation&> Tensors(std::string name, TensorRule rule) {
  return matcher(name, [name, rule](const Observation& seen) { return rule(seen.tensors(name)); });
}

testing::Matcher<const Observation&> Flag(std::string name, bool expected) {
  return matcher(name, [name, expected](const Observation& seen) -> std::optional<Mismatch> {
    const double got = seen.number(name);
    if (got == (expected ? 1.0 : 0.0)) return std::nullopt;
    Mismatch mismatch;
    mismatch.expected = expected ? "true" : "false";
    mismatch.got = got == 1.0 ? "true" : got == 0.0 ? "false" : shown(got);
    mismatch.expected_number = expected ? 1.0 : 0.0;
    mismatch.got_number = got;
    return mismatch;
  });
}

testing::Matcher<const Observation&> Word(std::string name, std::string expected) {
  return matcher(name, [name, expected](const Observation& seen) -> std::optional<Mismatch> {
    if (seen.word(name) == expected) return std::nullopt;
    Mismatch mismatch;
    mismatch.expected = expected;
    mismatch.got = seen.word(name);
    return mismatch;
  });
}

testing::Matcher<const Observation&> Returned() {
  return Word(Observation::kEndOfCall, Observation::kReturned);
}

testing::Matcher<const Observation&> ThrewRuntimeError() {
  return Word(Observation::kEndOfCall, Observation::kRuntimeError);
}

}  // namespace gradlab
