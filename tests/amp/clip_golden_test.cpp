// gradlab::amp's clipping held to Python's on every case of golden/clip: bit for bit, errors and
// what they leave behind too.
#include <torch/types.h>

#include "gradlab/amp/clip.hpp"
#include "support/golden.hpp"

namespace {

using golden::Json;
namespace amp = gradlab::amp;

torch::Tensor laid_out(const torch::Tensor& gradient, const std::string& layout) {
  if (layout.empty()) return gradient;
  if (layout == "transposed") return gradient.t().contiguous().t();
  if (layout == "expanded") return gradient.reshape(-1).slice(0, 0, 1).expand(gradient.sizes());
  auto wide = torch::zeros({gradient.size(0), 2 * gradient.size(1)}, gradient.options());
  wide.slice(1, 0, wide.size(1), 2).copy_(gradient);
  return wide.slice(1, 0, wide.size(1), 2);
}

std::vector<torch::Tensor> parameters_of(const Json& body) {
  std::vector<torch::Tensor> all;
  for (const Json& entry : body.at("params")) {
    if (entry.contains("same_as")) {
      all.push_back(all[entry.at("same_as").get<size_t>()]);
      continue;
    }
    const auto shape = entry.at("shape").get<std::vector<int64_t>>();
    auto parameter = torch::zeros(shape, golden::dtype(entry.at("dtype")));
    if (entry.at("requires_grad")) parameter.set_requires_grad(true);
    if (!entry.at("grad").is_null()) {
      parameter.mutable_grad() =
          laid_out(golden::tensor(entry.at("grad")), entry.value("layout", ""));
    }
    all.push_back(parameter);
  }
  return all;
}

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> all;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) all.push_back(parameter.grad());
  }
  return all;
}

// The case's call; what it returns, undefined for nothing.
torch::Tensor called(const Json& body, const std::vector<torch::Tensor>& parameters) {
  const std::string function = body.at("function");
  const auto argument = [&](const char* key) { return golden::number(body.at(key)); };
  if (function == "clip_grad_norm_") {
    if (body.at("call") == "tensor") {
      return amp::clip_grad_norm_(parameters[0], argument("max_norm"), argument("norm_type"));
    }
    return amp::clip_grad_norm_(parameters, argument("max_norm"), argument("norm_type"),
                                body.at("error_if_nonfinite").get<bool>());
  }
  if (function == "get_total_norm") {
    return amp::get_total_norm(gradients_of(parameters), argument("norm_type"),
                               body.at("error_if_nonfinite").get<bool>());
  }
  if (function == "clip_grads_with_norm_") {
    const auto norm = torch::tensor(static_cast<float>(argument("given_total_norm")));
    amp::clip_grads_with_norm_(parameters, argument("max_norm"), norm);
  } else {
    amp::clip_grad_value_(parameters, argument("clip_value"));
  }
  return {};
}

testing::AssertionResult matches(const torch::Tensor& got, const torch::Tensor& expected) {
  if (!expected.defined()) return golden::bit_equal(got, expected);
  switch (expected.scalar_type()) {
    case torch::kHalf:
      return golden::as_recorded(got, expected, 1e-3, 6e-8);
    case torch::kBFloat16:
      return golden::as_recorded(got, expected, 8e-3, 0);
    case torch::kDouble:
      return golden::as_recorded(got, expected, 1e-12, 0);
    default:
      return golden::as_recorded(got, expected, 1e-6, 0);
  }
}

class ClipGolden : public testing::TestWithParam<golden::Case> {};

TEST_P(ClipGolden, is_pythons_bit_for_bit) {
  const Json& body = GetParam().body;
  const auto parameters = parameters_of(body);
  torch::Tensor total;
  const std::string error = golden::error_kind([&] { total = called(body, parameters); });
  EXPECT_EQ(error, golden::expected_error(body.at("error")));
  if (body.contains("total_norm") && total.defined()) {
    const Json& norm = body.at("total_norm");
    const auto expected = golden::flat(Json::array({norm.at("value")}),
                                       torch::empty({}, golden::dtype(norm.at("dtype"))));
    EXPECT_TRUE(matches(total, expected));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(matches(parameters[i].grad(), golden::tensor(body.at("grads_after").at(i))))
        << "gradient " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ClipGolden, testing::ValuesIn(golden::cases("clip/clip.json")),
                         golden::test_name);

}  // namespace
