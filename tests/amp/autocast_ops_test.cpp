// The dtype rules of CPU autocast, op by op (golden/autocast/ops.json): what Python's regions give,
// a guard gives. These are test/test_autocast.py's op lists; its test names stand in the suites'
// names.
#include <torch/types.h>
#include <torch/version.h>

#include "gradlab/amp/autocast.hpp"
#include "support/golden.hpp"
#include "support/ops.hpp"

namespace {

using golden::Json;
using gradlab::amp::AutocastGuard;

// Outside a region the type is that of LibTorch's own kernel, and two took half types after 2.4.
bool kernel_came_later(const std::string& op) {
  return TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 6 &&
         (op == "mse_loss" || op == "reflection_pad1d");
}

// Every variant of one op, inside a region and outside.
void expect_recorded_dtypes(const Json& body) {
  const auto& op = golden::op(body.at("name"));
  for (const std::string region : {"float16", "bfloat16"}) {
    const auto low = golden::dtype(region);
    for (const auto& [variant, expected] : body.at(region).at("outside").items()) {
      if (kernel_came_later(body.at("name"))) break;
      EXPECT_EQ(golden::outcome(op, body, variant, low), expected.get<std::string>())
          << region << " " << variant << " outside";
    }
    const AutocastGuard autocast(torch::kCPU, low);
    for (const auto& [variant, expected] : body.at(region).at("inside").items()) {
      EXPECT_EQ(golden::outcome(op, body, variant, low), expected.get<std::string>())
          << region << " " << variant << " inside";
    }
  }
}

std::vector<golden::Case> of_class(const std::string& wanted) {
  std::vector<golden::Case> all;
  for (auto& one : golden::cases("autocast/ops.json")) {
    if (one.body.at("class") == wanted) all.push_back(std::move(one));
  }
  return all;
}

class TestAutocastOps : public testing::TestWithParam<golden::Case> {};

TEST_P(TestAutocastOps, output_dtypes_are_pythons) { expect_recorded_dtypes(GetParam().body); }

INSTANTIATE_TEST_SUITE_P(test_autocast_torch_16_and_nn_16, TestAutocastOps,
                         testing::ValuesIn(of_class("lower")), golden::test_name);
INSTANTIATE_TEST_SUITE_P(test_autocast_torch_fp32_and_nn_fp32, TestAutocastOps,
                         testing::ValuesIn(of_class("float32")), golden::test_name);
INSTANTIATE_TEST_SUITE_P(test_autocast_torch_need_autocast_promote, TestAutocastOps,
                         testing::ValuesIn(of_class("promote")), golden::test_name);
INSTANTIATE_TEST_SUITE_P(test_autocast_torch_expect_builtin_promote, TestAutocastOps,
                         testing::ValuesIn(of_class("unlisted")), golden::test_name);

TEST(TestAutocastOpsGolden, every_case_is_in_one_of_the_four) {
  EXPECT_EQ(of_class("lower").size() + of_class("float32").size() + of_class("promote").size() +
                of_class("unlisted").size(),
            golden::cases("autocast/ops.json").size());
}

}  // namespace
