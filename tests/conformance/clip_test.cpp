// The clipping lab's reference, held to PyTorch 2.11.0 (tests/golden/clip) and to a computation in
// double by Eigen, which shares no code with LibTorch.
#include <Eigen/Core>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "clipping.hpp"
#include "judge/implementations.hpp"
#include "judge/random.hpp"
#include "protocol/case.hpp"
#include "protocol/tensors.hpp"

namespace {

using gradlab::Case;
using gradlab::gradients_of;
using Json = nlohmann::json;

const clipping::Impl& reference() {
  return *static_cast<const clipping::Impl*>(gradlab::implementations().reference.get());
}

// ---- PyTorch

// tests/golden, or the folder that GRADLAB_GOLDEN names.
std::string golden_folder() {
  const char* other = std::getenv("GRADLAB_GOLDEN");
  if (other != nullptr && *other != '\0') return other;
  const char* root = std::getenv("GRADLAB_ROOT");
  return std::string(root != nullptr ? root : ".") + "/tests/golden";
}

Json golden_cases() {
  std::ifstream file(golden_folder() + "/clip/clip.json");
  return Json::parse(file).at("cases");
}

torch::Tensor laid_out(const torch::Tensor& tensor, const std::string& layout) {
  if (layout == "transposed") return tensor.t().contiguous().t();
  if (layout != "strided") return tensor;
  auto wide = torch::zeros({tensor.size(0), 2 * tensor.size(1)}, tensor.options());
  wide.slice(1, 0, wide.size(1), 2).copy_(tensor);
  return wide.slice(1, 0, wide.size(1), 2);
}

Case case_of(const Json& golden) {
  Case in;
  for (const auto& parameter : golden.at("params")) {
    auto gradient = gradlab::protocol::tensor_from_json(parameter.at("grad"));
    if (gradient.defined()) gradient = laid_out(gradient, parameter.value("layout", ""));
    const auto sizes = parameter.at("shape").get<std::vector<int64_t>>();
    const auto options = gradient.defined() ? gradient.options() : torch::TensorOptions();
    in.parameter(torch::zeros(sizes, options), gradient, parameter.at("requires_grad"));
  }
  return in;
}

// What the contract leaves out: a limit that is negative or not finite, a tensor twice, integers,
// one element in all places.
bool within_contract(const Json& golden) {
  if (golden.at("function") != "clip_grad_norm_" || golden.at("norm_type") != 2.0) return false;
  const double max_norm = gradlab::protocol::number_from_json(golden.at("max_norm"));
  if (!std::isfinite(max_norm) || max_norm < 0) return false;
  for (const auto& parameter : golden.at("params")) {
    if (parameter.contains("same_as") || parameter.value("layout", "") == "expanded") return false;
    if (parameter.at("dtype") == "int64") return false;
  }
  return true;
}

// Where squares overflow or vanish in float32 (or the norm does in half), PyTorch says inf or 0;
// the reference, which sums in double, says the truth.
bool truth_differs(const std::string& name) {
  static const std::set<std::string> kNames{"huge_two",
                                            "huge_100",
                                            "tiny",
                                            "subnormal",
                                            "float16_overflowing_norm",
                                            "error_if_nonfinite_overflowing_norm"};
  return kNames.contains(name);
}

double tolerance_of(torch::ScalarType dtype) {
  switch (dtype) {
    case torch::kFloat64:
      return 1e-12;
    case torch::kFloat32:
      return 1e-6;
    case torch::kFloat16:
      return 1e-3;
    default:
      return 8e-3;
  }
}

double loosest_tolerance(const Case& in) {
  double loosest = 0;
  for (const auto& gradient : in.gradients()) {
    if (gradient.defined()) loosest = std::max(loosest, tolerance_of(gradient.scalar_type()));
  }
  return loosest;
}

// PyTorch gives the norm of halves as a half: as coarse as 2^-24 where it is below 2^-14.
double allowed(const Case& in, double norm) {
  const double relative = loosest_tolerance(in);
  const bool half = relative == tolerance_of(torch::kFloat16);
  return relative * norm + (half ? 0x1p-24 : 0);
}

void expect_close(const std::vector<torch::Tensor>& got, const Json& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const auto expected = gradlab::protocol::tensor_from_json(want[i]);
    ASSERT_EQ(got[i].defined(), expected.defined()) << "gradient " << i;
    if (!expected.defined()) continue;
    ASSERT_EQ(got[i].scalar_type(), expected.scalar_type());
    EXPECT_TRUE(torch::allclose(got[i], expected, 1e-6, 0))
        << "gradient " << i << got[i] << expected;
  }
}

TEST(ClipConformance, norms_are_those_of_pytorch) {
  int compared = 0;
  for (const auto& golden : golden_cases()) {
    if (!within_contract(golden) || truth_differs(golden.at("name"))) continue;
    if (!golden.at("error").is_null()) continue;
    SCOPED_TRACE(golden.at("name").get<std::string>());
    const Case in = case_of(golden);
    const double want = gradlab::protocol::number_from_json(golden.at("total_norm").at("value"));
    const double got = reference().total_norm(in.parameters());
    ++compared;
    if (std::isfinite(want)) {
      EXPECT_NEAR(got, want, allowed(in, want));
    } else {
      EXPECT_EQ(std::isnan(got), std::isnan(want));
      EXPECT_EQ(std::isinf(got), std::isinf(want));
    }
  }
  EXPECT_GT(compared, 50);
}

TEST(ClipConformance, gradients_are_those_of_pytorch) {
  int compared = 0;
  for (const auto& golden : golden_cases()) {
    if (!within_contract(golden) || !golden.at("error").is_null()) continue;
    const Case in = case_of(golden);
    const auto parameters = in.parameters();
    if (loosest_tolerance(in) > 1e-6 || !std::isfinite(reference().total_norm(parameters)))
      continue;
    if (golden.at("total_norm").at("value") == "inf") continue;  // the truth is finite
    SCOPED_TRACE(golden.at("name").get<std::string>());
    reference().clip_gradients(parameters,
                               gradlab::protocol::number_from_json(golden.at("max_norm")));
    expect_close(gradients_of(parameters), golden.at("grads_after"));
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(ClipConformance, the_checked_clip_refuses_where_pytorch_does) {
  int refused = 0;
  for (const auto& golden : golden_cases()) {
    if (!within_contract(golden) || !golden.at("error_if_nonfinite").get<bool>()) continue;
    if (truth_differs(golden.at("name"))) continue;
    SCOPED_TRACE(golden.at("name").get<std::string>());
    const auto parameters = case_of(golden).parameters();
    const auto clip = [&] { return reference().clip_gradients_checked(parameters, 1); };
    if (golden.at("error").is_null()) {
      EXPECT_NO_THROW(clip());
    } else {
      EXPECT_THROW(clip(), std::runtime_error);
      ++refused;
      for (size_t i = 0; i < parameters.size(); ++i) {
        const auto before = gradlab::protocol::tensor_from_json(golden.at("params")[i].at("grad"));
        EXPECT_TRUE(torch::allclose(parameters[i].grad(), before, 0, 0, /*equal_nan=*/true));
      }
    }
  }
  EXPECT_EQ(refused, 2);
}

// ---- Eigen

template <typename Scalar>
double eigen_square_sum(const torch::Tensor& gradient) {
  using Raw = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  const auto plain = gradient.contiguous();
  const auto* data = static_cast<const Scalar*>(plain.const_data_ptr());
  return Eigen::Map<const Raw>(data, plain.numel()).template cast<double>().square().sum();
}

double eigen_norm(const std::vector<torch::Tensor>& gradients) {
  double sum = 0;
  for (const auto& gradient : gradients) {
    switch (gradient.scalar_type()) {
      case torch::kFloat64:
        sum += eigen_square_sum<double>(gradient);
        break;
      case torch::kFloat32:
        sum += eigen_square_sum<float>(gradient);
        break;
      case torch::kFloat16:
        sum += eigen_square_sum<Eigen::half>(gradient);
        break;
      default:
        sum += eigen_square_sum<Eigen::bfloat16>(gradient);
    }
  }
  return std::sqrt(sum);
}

Case random_list(gradlab::Random& random, const std::vector<torch::ScalarType>& dtypes) {
  Case in;
  const auto count = random.integer(1, 12);
  for (int64_t i = 0; i < count; ++i) {
    const auto rows = random.integer(0, 9);
    auto gradient = random.tensor({rows, 2 * random.integer(1, 9)}, random.pick(dtypes));
    if (random.chance(0.3)) gradient = gradient.t();
    if (random.chance(0.3)) gradient = gradient.slice(1, 0, gradient.size(1), 2);
    in.parameter(torch::zeros(gradient.sizes(), gradient.options()), gradient);
  }
  return in;
}

TEST(ClipConformance, norms_are_those_of_eigen) {
  gradlab::Random random("conformance", "norm");
  for (int i = 0; i < 200; ++i) {
    const auto in =
        random_list(random, {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16});
    const double want = eigen_norm(in.gradients());
    EXPECT_NEAR(reference().total_norm(in.parameters()), want, 1e-13 * want);
  }
}

TEST(ClipConformance, clipped_gradients_are_those_of_eigen) {
  gradlab::Random random("conformance", "clip");
  for (int i = 0; i < 200; ++i) {
    const auto in = random_list(random, {torch::kFloat64, torch::kFloat32});
    const auto parameters = in.parameters();
    const double max_norm = std::pow(10, random.uniform(-3, 2));
    const double norm = eigen_norm(in.gradients());
    reference().clip_gradients(parameters, max_norm);
    const double coefficient = std::min(1.0, max_norm / (norm + 1e-6));
    for (size_t k = 0; k < parameters.size(); ++k) {
      const auto want = in.gradients()[k].to(torch::kFloat64) * coefficient;
      const double relative =
          parameters[k].grad().scalar_type() == torch::kFloat64 ? 1e-13 : 0x1p-22;
      EXPECT_TRUE(torch::allclose(parameters[k].grad().to(torch::kFloat64), want, relative, 0));
    }
  }
}

}  // namespace
