// Clipping beyond golden data: what is refused and left as it was, dtypes, views, version counters.
#include "gradlab/amp/clip.hpp"

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::copies_of;
using amp_test::gradients_of;
using amp_test::kInf;
using amp_test::kNaN;
using amp_test::with_gradient;
namespace amp = gradlab::amp;
using Tensors = std::vector<torch::Tensor>;

// ---- refused, with everything as before

struct BadGradient {
  const char* name;
  torch::Tensor (*make)();
  const char* kind;
  const char* words;  // in the message
};

void PrintTo(const BadGradient& bad, std::ostream* out) { *out << bad.name; }

torch::Tensor sparse() {
  return torch::sparse_coo_tensor(torch::tensor({{0}}, torch::kLong), torch::ones({1}), {2});
}

class ClipRefuses : public testing::TestWithParam<BadGradient> {};

TEST_P(ClipRefuses, and_leaves_gradients_as_they_were) {
  const auto bad = torch::zeros({2}, GetParam().make().options().layout(torch::kStrided));
  bad.mutable_grad() = GetParam().make();
  const Tensors parameters = {with_gradient({3, 4}), bad, with_gradient({30, 40})};
  for (const bool fused : {false, true}) {
    amp::ClipOptions options;
    options.fused = fused;
    const auto call = [&] { amp::clip_grad_norm_(parameters, 1, options); };
    EXPECT_EQ(golden::error_kind(call), GetParam().kind);
    EXPECT_NE(golden::error_message(call).find("parameter 1"), std::string::npos)
        << golden::error_message(call);
    EXPECT_NE(golden::error_message(call).find(GetParam().words), std::string::npos)
        << golden::error_message(call);
  }
  EXPECT_EQ(golden::error_kind([&] { amp::clip_grad_value_(parameters, 1); }), GetParam().kind);
  EXPECT_EQ(
      golden::error_kind([&] { amp::clip_grads_with_norm_(parameters, 1, torch::tensor(5.0F)); }),
      GetParam().kind);
  EXPECT_EQ(golden::error_kind([&] { amp::get_total_norm(gradients_of(parameters)); }),
            GetParam().kind);
  EXPECT_TRUE(golden::bit_equal(parameters[0].grad(), torch::tensor({3.0F, 4.0F})));
  EXPECT_TRUE(golden::bit_equal(parameters[2].grad(), torch::tensor({30.0F, 40.0F})));
}

INSTANTIATE_TEST_SUITE_P(
    Gradients, ClipRefuses,
    testing::Values(BadGradient{"int64", [] { return torch::tensor({3, 4}, torch::kLong); },
                                "integer_gradients", "int64 [2]"},
                    BadGradient{"expanded", [] { return torch::ones({1}).expand({2}); },
                                "overlapping_memory", "clone()"},
                    BadGradient{"sparse", sparse, "unsupported_layout", "Sparse"}));

TEST(ClipRefuses, undefined_tensors) {
  const Tensors parameters = {with_gradient({3, 4}), torch::Tensor()};
  const auto call = [&] { amp::clip_grad_norm_(parameters, 1); };
  EXPECT_EQ(golden::error_kind(call), "undefined_tensor");
  EXPECT_NE(golden::error_message(call).find("parameter 1"), std::string::npos);
  EXPECT_EQ(golden::error_kind([&] { amp::get_total_norm(Tensors{torch::Tensor()}); }),
            "undefined_tensor");
  EXPECT_EQ(golden::error_kind([&] { amp::clip_grads_with_norm_(parameters, 1, {}); }),
            "bad_total_norm");
  EXPECT_TRUE(golden::bit_equal(parameters[0].grad(), torch::tensor({3.0F, 4.0F})));
}

TEST(ClipRefuses, total_norms_that_are_none) {
  const auto parameter = with_gradient({3, 4});
  for (const auto& norm :
       {torch::ones({2}), torch::ones({}, torch::kLong), torch::ones({}, torch::kComplexFloat)}) {
    EXPECT_EQ(golden::error_kind([&] { amp::clip_grads_with_norm_(parameter, 1, norm); }),
              "bad_total_norm");
  }
  EXPECT_TRUE(golden::bit_equal(parameter.grad(), torch::tensor({3.0F, 4.0F})));
}

TEST(ClipRefuses, complex_gradients_in_clip_grad_value) {
  const auto parameter = with_gradient(torch::ones({2}, torch::kComplexFloat));
  EXPECT_EQ(golden::error_kind([&] { amp::clip_grad_value_(parameter, 1); }), "complex_gradients");
}

// ---- strict: what Python takes

TEST(ClipStrict, refuses_what_python_takes) {
  amp::ClipOptions strict;
  strict.strict = true;
  const auto parameter = with_gradient({3, 4});
  const auto kind = [&](const Tensors& parameters, double max_norm) {
    return golden::error_kind([&] { amp::clip_grad_norm_(parameters, max_norm, strict); });
  };
  EXPECT_EQ(kind({parameter}, kNaN), "bad_max_norm");
  EXPECT_EQ(kind({parameter}, -1), "bad_max_norm");
  EXPECT_EQ(kind({parameter, parameter}, 1), "repeated_tensor");
  EXPECT_EQ(kind({}, 1), "no_gradients");
  EXPECT_EQ(kind({torch::zeros({2})}, 1), "no_gradients");
  EXPECT_TRUE(golden::bit_equal(parameter.grad(), torch::tensor({3.0F, 4.0F})));
  EXPECT_EQ(kind({parameter}, 5), "");
}

// ---- semantics

TEST(ClipGradNorm, takes_a_list_a_vector_and_one_tensor) {
  const auto a = with_gradient({3, 0}), b = with_gradient({0, 4});
  EXPECT_EQ(amp::clip_grad_norm_({a, b}, kInf).item<float>(), 5);
  EXPECT_EQ(amp::clip_grad_norm_(Tensors{a, b}, 10).item<float>(), 5);
  EXPECT_EQ(amp::clip_grad_norm_(a, 10).item<float>(), 3);
}

TEST(ClipGradNorm, counts_complex_gradients_by_magnitude) {
  const auto parameter =
      with_gradient(torch::complex(torch::tensor({3.0F}), torch::tensor({4.0F})));
  EXPECT_EQ(amp::clip_grad_norm_(parameter, 1).item<float>(), 5);
  EXPECT_NEAR(at::real(parameter.grad())[0].item<float>(), 0.6, 1e-6);
}

TEST(ClipGradNorm, writes_in_place_and_raises_the_version) {
  const auto parameter = with_gradient({3, 4});
  const auto alias = parameter.grad();
  const auto version = alias._version();
  amp::clip_grad_norm_(parameter, 1);
  EXPECT_NEAR(alias[0].item<float>(), 0.6, 1e-6);
  EXPECT_EQ(alias._version(), version + 1);
}

TEST(ClipGradNorm, makes_no_graph_of_gradients_that_have_one) {
  const auto x = torch::ones({2}).set_requires_grad(true);
  const auto parameter = torch::zeros({2});
  parameter.mutable_grad() = x * torch::tensor({3.0F, 4.0F});
  const auto norm = amp::get_total_norm(parameter.grad());
  EXPECT_FALSE(norm.requires_grad());
  EXPECT_EQ(norm.item<float>(), 5);
}

TEST(ClipGradNorm, takes_a_total_norm_of_shape_one) {
  const auto parameter = with_gradient({3, 4});
  amp::clip_grads_with_norm_(parameter, 1, torch::tensor({5.0F}));
  EXPECT_NEAR(parameter.grad()[0].item<float>(), 0.6, 1e-6);
}

// Optimizer::parameters() is the first group only.
TEST(ParametersOf, are_those_of_all_groups) {
  const auto a = torch::zeros({1}), b = torch::zeros({2}), c = torch::zeros({3});
  const torch::optim::SGD optimizer(
      {torch::optim::OptimizerParamGroup({a}), torch::optim::OptimizerParamGroup({b, c})},
      torch::optim::SGDOptions(0.1));
  const auto all = amp::parameters_of(optimizer);
  ASSERT_EQ(all.size(), 3);
  EXPECT_TRUE(all[2].is_same(c));
}

}  // namespace
