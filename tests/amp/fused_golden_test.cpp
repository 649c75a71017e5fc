// The fused clip on golden/clip's 2-norm cases: Python's answer within rounding, or nearer to the
// truth.
#include <torch/types.h>

#include "support/fused.hpp"
#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::copies_of;
using amp_test::defined_gradients;
using amp_test::expect_close;
using amp_test::fused;
using amp_test::relative_error;
using amp_test::Tensors;
using amp_test::tolerance_of;
using amp_test::true_norm;
using golden::error_kind;
namespace amp = gradlab::amp;

std::vector<golden::Case> golden_two_norms() {
  std::vector<golden::Case> all;
  for (auto& one : golden::cases("clip/clip.json")) {
    const auto& body = one.body;
    if (body.at("function") != "clip_grad_norm_" || golden::number(body.at("norm_type")) != 2)
      continue;
    bool plain = true;
    for (const auto& entry : body.at("params")) {
      plain = plain && !entry.contains("same_as") && !entry.contains("layout");
    }
    if (plain) all.push_back(std::move(one));
  }
  return all;
}

// Where float32 or float16 squares overflow or vanish, the true norm is what ours is nearer to.
bool outside_float32(const std::string& name) {
  return name == "huge_two" || name == "huge_100" || name == "tiny" ||
         name == "error_if_nonfinite_overflowing_norm";
}

class FusedGolden : public testing::TestWithParam<golden::Case> {};

TEST_P(FusedGolden, is_pythons_within_1e_6_or_nearer_to_the_truth) {
  const auto& body = GetParam().body;
  Tensors parameters;
  for (const auto& entry : body.at("params")) {
    const auto gradient = golden::tensor(entry.at("grad"));
    auto parameter = torch::zeros(entry.at("shape").get<std::vector<int64_t>>(),
                                  golden::dtype(entry.at("dtype")));
    parameter.mutable_grad() = gradient;
    parameters.push_back(parameter);
  }
  const Tensors before = copies_of(defined_gradients(parameters));
  auto options = fused();
  options.error_if_nonfinite = body.at("error_if_nonfinite").get<bool>();
  const double max_norm = golden::number(body.at("max_norm"));
  torch::Tensor norm;
  const auto error =
      error_kind([&] { norm = amp::clip_grad_norm_(parameters, max_norm, options); });
  if (outside_float32(GetParam().name)) {
    EXPECT_LT(relative_error(norm.item<double>(), true_norm(before)), 1e-6);
    const double factor = std::min(1.0, max_norm / (true_norm(before) + 1e-6));
    expect_close(
        defined_gradients(parameters),
        [&] {
          Tensors scaled;
          for (const auto& one : before) scaled.push_back(one * factor);
          return scaled;
        }(),
        1e-6);
    return;
  }
  EXPECT_EQ(error, golden::expected_error(body.at("error")));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto expected = golden::tensor(body.at("grads_after").at(i));
    if (!expected.defined()) continue;
    const bool half = expected.scalar_type() == torch::kHalf;
    EXPECT_TRUE(
        golden::close(parameters[i].grad(), expected, tolerance_of(before), half ? 6e-8 : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, FusedGolden, testing::ValuesIn(golden_two_norms()),
                         golden::test_name);

}  // namespace
