// autocast.4: an island of float32 round an operation that is unsafe in half.
#include <cmath>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::autocast_checks;

Case island(const char* op, torch::Tensor input, const char* caller = "in a float16 region") {
  return Case().add("input", std::move(input)).word("caller", caller).word("op", op);
}

torch::Tensor half(const std::vector<std::vector<double>>& rows) {
  return matrix(rows).to(torch::kHalf);
}
torch::Tensor brain(const std::vector<std::vector<double>>& rows) {
  return matrix(rows).to(torch::kBFloat16);
}

constexpr const char* kLogSumExp = "log of the sum of exp";
constexpr const char* kToLengthOne = "rows to length 1";
constexpr const char* kProducts = "products of rows";

// Of each op, type and caller one that any arithmetic gets right.
std::vector<Case> harmless() {
  return {
      island(kProducts, half({{2}})),
      island(kLogSumExp, half({{0, 0}})),
      island(kToLengthOne, half({{3, 4}})),
      island(kProducts, brain({{1, 2}}), "in a bfloat16 region"),
      island(kProducts, matrix({{1, 2}})),
      island(kToLengthOne, matrix({{3, 4}}), "in a bfloat16 region"),
      island(kProducts, half({{1, 2}}), "outside every region"),
      island(kProducts, half({{3}}), "in a disabled float16 region"),
      island(kProducts, half({{3}}), "in two float16 regions"),
      island(kProducts, half({{3}}), "in a float16 region with the cache off"),
  };
}

TEST_F(Autocast, task4_op_gets_float32_with_autocast_off) {
  const auto cases = harmless();
  const auto got = subject().observe("island", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("dtype_that_op_gets", "float32"));
    EXPECT_THAT(run.got, Word("state_in_op", "autocast off"));
  }
}

TEST_F(Autocast, task4_the_result_is_float32) {
  const auto cases = harmless();
  const auto got = subject().observe("island", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("result_dtype", "float32"));
  }
}

TEST_F(Autocast, task4_unsafe_operations_stay_right) {
  struct Worked {
    Case in;
    torch::Tensor result;
  };
  const auto number = [](double value) { return torch::tensor({static_cast<float>(value)}); };
  const double log2 = std::log(2.0);
  std::vector<Worked> worked{
      {island(kLogSumExp, half({{12}})), number(12)},  // exp(12) is 162755, past 65504
      {island(kLogSumExp, half({{-20, -20}})), number(-20 + log2)},  // exp(-20) is 0 in float16
      {island(kLogSumExp, matrix({{12, 12}})), number(12 + log2)},
      {island(kProducts, half({{300}})), one(90000)},
      {island(kProducts, matrix({{300}})), one(90000)},  // float32 going in is not enough
      {island(kProducts, half({{256, 16}})), one(65792)},
      {island(kProducts, brain({{16, 1}}), "in a bfloat16 region"), one(257)},
      {island(kToLengthOne, half({{0, 0}})), matrix({{0, 0}})},  // 1e-8 is 0 in float16
      {island(kToLengthOne, half({{300, -400}})), matrix({{0.6, -0.8}})},
      {island(kToLengthOne, half({{0, 0}, {3, 4}})), matrix({{0, 0}, {0.6, 0.8}})},
  };
  const auto large = static_cast<double>(random().integer(256, 1000));
  worked.push_back({island(kProducts, half({{large}})), one(large * large)});
  const auto high = static_cast<double>(random().integer(12, 40));
  worked.push_back({island(kLogSumExp, half({{high, high}})), number(high + log2)});
  std::vector<Case> cases;
  for (const auto& one_of : worked) cases.push_back(one_of.in);
  const auto got = subject().observe("island", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    // Three or four float32 operations.
    EXPECT_THAT(run.got, Tensors("result",
                                 CloseTo({worked[i++].result}, {.absolute = 0, .relative = 1e-5})));
  }
}

TEST_F(Autocast, task4_gradients_flow_through) {
  std::vector<Case> cases{
      island(kProducts, half({{3}})),
      island(kLogSumExp, half({{1, 1}})),
      island(kProducts, matrix({{0.5}})),
      island(kProducts, brain({{2}}), "in a bfloat16 region"),
      island(kProducts, half({{1.5}}), "outside every region"),
  };
  const auto half_each = half({{0.5, 0.5}});
  const std::vector<torch::Tensor> worked{half({{6}}), half_each, one(1), brain({{4}}),
                                          half({{3}})};
  const auto got = subject().observe("island", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("backward", "done"));
    // Every number here is held exactly; the quotient of two exps may be off by a float32's bit,
    // and half a float16's.
    EXPECT_THAT(run.got, Tensors("input_gradient",
                                 CloseTo({worked[i++]}, {.absolute = 0, .relative = 0x1p-10})));
  }
}

TEST_F(Autocast, task4_the_region_goes_on_behind_it) {
  std::vector<Case> cases;
  for (const auto* caller : {"in a float16 region", "in a bfloat16 region",
                             "in two float16 regions", "in a float16 region with the cache off"}) {
    cases.push_back(island(kToLengthOne, matrix({{3, 4}}), caller));
  }
  const auto got = subject().observe("island_between_layers", cases);
  const auto want = reference().observe("island_between_layers", cases);
  for (const auto& run : together(cases, got, want)) {
    const auto* behind = "dtype_behind_the_island";
    EXPECT_THAT(run.got, Word(behind, run.want.word(behind)));
  }
}

TEST_F(Autocast, task4_the_state_after_an_island) {
  const auto cases = harmless();
  const auto got = subject().observe("island", cases);
  const auto want = reference().observe("island", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
  }
}

TEST_F(Autocast, task4_an_op_that_throws_leaves_the_state) {
  std::vector<Case> cases;
  for (const auto* caller : {"in a float16 region", "outside every region"}) {
    for (const auto* kind : {"std::out_of_range", "a number"}) {
      cases.push_back(island(kProducts, half({{1}}), caller).word("throws", kind));
    }
  }
  const auto got = subject().observe("island_that_throws", cases);
  const auto want = reference().observe("island_that_throws", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("exception_that_comes_out", "the one that was thrown"));
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
  }
}

}  // namespace
