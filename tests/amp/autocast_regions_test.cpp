// AutocastGuard held to Python's regions (golden/autocast/regions.json): state after every step,
// products, and how often a tensor was cast, which shows the weight cache.
#include <ATen/autocast_mode.h>
#include <torch/types.h>
#include <torch/version.h>

#include <map>
#include <memory>
#include <stdexcept>

#include "gradlab/amp/autocast.hpp"
#include "support/casts.hpp"
#include "support/golden.hpp"

namespace {

using golden::Json;
using gradlab::amp::AutocastGuard;

Json autocast_state() {
  return {{"enabled", at::autocast::is_autocast_enabled(at::kCPU)},
          {"dtype", golden::dtype_name(at::autocast::get_autocast_dtype(at::kCPU))},
          {"cache_enabled", at::autocast::is_autocast_cache_enabled()},
          {"nesting", AutocastGuard::depth()}};
}

// Of a product's rounding, by its dtype.
double tolerance(const torch::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 ? 8e-3 : 1e-3;
}

class Player {
 public:
  explicit Player(const Json& body) {
    for (const auto& [name, spec] : body.at("tensors").items()) {
      // A clone: autocast caches no copy of a view.
      auto value = golden::tensor(spec.at("value")).clone();
      tensors_[name] = value.set_requires_grad(spec.at("requires_grad").get<bool>());
    }
  }

  void play(const Json& op, const Json& result) {
    const std::string kind = op.at("op");
    if (kind == "enter") {
      enter(op);
    } else if (kind == "exit") {
      guards_.pop_back();
    } else if (kind == "throw") {
      leave_by_exception(op.at("levels"));
    } else if (kind == "assign") {
      const at::NoGradGuard no_grad;
      tensors_.at(op.at("tensor")).copy_(golden::tensor(op.at("value")));
    } else if (kind == "clear_cache") {
      at::autocast::clear_cache();
    } else if (kind == "set_cache_enabled") {
      at::autocast::set_autocast_cache_enabled(op.at("value"));
    } else if (kind == "backward_sum") {
      backward(op, result);
    } else {
      compute(kind, op, result);
    }
  }

 private:
  void enter(const Json& op) {
    std::optional<at::ScalarType> dtype;
    if (!op.at("dtype").is_null()) dtype = golden::dtype(op.at("dtype"));
    std::optional<bool> cache;
    if (!op.at("cache_enabled").is_null()) cache = op.at("cache_enabled").get<bool>();
    guards_.push_back(
        std::make_unique<AutocastGuard>(at::kCPU, dtype, op.at("enabled").get<bool>(), cache));
  }

  // The guards end while an exception passes, innermost first.
  void leave_by_exception(int levels) {
    struct Frame {
      std::vector<std::unique_ptr<AutocastGuard>>& guards;
      int levels;
      ~Frame() {
        for (int i = 0; i < levels; ++i) guards.pop_back();
      }
    };
    try {
      const Frame frame{guards_, levels};
      throw std::runtime_error("planned");
    } catch (const std::runtime_error&) {
    }
  }

  void compute(const std::string& kind, const Json& op, const Json& result) {
    std::vector<torch::Tensor> in;
    for (const std::string name : op.at("args")) in.push_back(tensors_.at(name));
    torch::Tensor out;
    int casts = 0;
    {
      const at::AutoGradMode mode(op.value("grad", true));
      const amp_test::CastCounter counter;
      out = computed(kind, in);
      casts = counter.count();
    }
    if (result.contains("output")) {
      const auto expected = golden::tensor(result.at("output"));
      EXPECT_TRUE(golden::as_recorded(out, expected, tolerance(out), 0));
      EXPECT_EQ(out.requires_grad(), result.at("requires_grad").get<bool>());
      EXPECT_EQ(casts, result.at("casts").get<int>());
    }
    if (op.contains("out")) tensors_[op.at("out")] = out;
  }

  static torch::Tensor computed(const std::string& kind, const std::vector<torch::Tensor>& in) {
    if (kind == "linear")
      return in.size() == 3 ? at::linear(in[0], in[1], in[2]) : at::linear(in[0], in[1]);
    if (kind == "mm") return at::mm(in[0], in[1]);
    if (kind == "add") return at::add(in[0], in[1]);
    if (kind == "sum") return at::sum(in[0]);
    return at::mse_loss(in[0], in[1]);
  }

  void backward(const Json& op, const Json& result) {
    for (auto& [name, tensor] : tensors_) {
      if (tensor.is_leaf()) tensor.mutable_grad() = torch::Tensor();
    }
    tensors_.at(op.at("tensor")).to(at::kFloat).sum().backward();
    for (const auto& [name, gradient] : result.at("grads").items()) {
      const auto& got = tensors_.at(name).grad();
      EXPECT_TRUE(golden::as_recorded(got, golden::tensor(gradient), 8e-3, 0));
    }
  }

  std::map<std::string, torch::Tensor> tensors_;
  std::vector<std::unique_ptr<AutocastGuard>> guards_;
};

class AutocastRegions : public testing::TestWithParam<golden::Case> {};

TEST_P(AutocastRegions, state_products_and_casts_are_pythons) {
  if (GetParam().name == "no_grad_first" && TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 10) {
    GTEST_SKIP() << "LibTorch " << TORCH_VERSION << " loses the gradient: its cache keeps a copy "
                 << "without history";
  }
  const Json& body = GetParam().body;
  EXPECT_EQ(autocast_state(), body.at("before"));
  {
    Player player(body);
    for (const Json& step : body.at("steps")) {
      SCOPED_TRACE(step.at("op").dump());
      const std::string error =
          golden::error_kind([&] { player.play(step.at("op"), step.at("result")); });
      // ATen's own errors have no kind in C++.
      EXPECT_EQ(error, step.at("result").at("error").is_null() ? "" : "aten");
      EXPECT_EQ(autocast_state(), step.at("state"));
    }
  }
  at::autocast::set_autocast_cache_enabled(true);
  EXPECT_EQ(autocast_state(), body.at("after"));
}

std::vector<golden::Case> regions_where_we_do_as_python() {
  std::vector<golden::Case> all;
  for (auto& one : golden::cases("autocast/regions.json")) {
    if (one.name == "unsupported_dtype" || one.name == "cached_copy_has_the_other_dtype") continue;
    all.push_back(std::move(one));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Golden, AutocastRegions,
                         testing::ValuesIn(regions_where_we_do_as_python()), golden::test_name);

// ---- the two cases where we differ, on purpose

Json region(const std::string& name) {
  for (auto& one : golden::cases("autocast/regions.json")) {
    if (one.name == name) return one.body;
  }
  throw std::runtime_error("no region " + name);
}

TEST(AutocastRegionsDiffer, unsupported_dtype_is_refused_where_python_goes_on_in_float32) {
  const Json body = region("unsupported_dtype");
  const Json before = autocast_state();
  EXPECT_EQ(golden::error_kind([] { AutocastGuard guard(at::kCPU, at::kFloat); }),
            "autocast_dtype");
  EXPECT_EQ(autocast_state(), before);
  EXPECT_FALSE(body.at("steps").at(0).at("state").at("enabled").get<bool>());
}

TEST(AutocastRegionsDiffer, nested_dtype_gets_its_own_copy_where_python_fails) {
  const Json body = region("cached_copy_has_the_other_dtype");
  const auto x = golden::tensor(body.at("tensors").at("x").at("value"));
  const auto w =
      golden::tensor(body.at("tensors").at("w").at("value")).clone().set_requires_grad(true);
  const AutocastGuard outer(at::kCPU, at::kHalf);
  const auto first = at::linear(x, w);
  {
    const AutocastGuard inner(at::kCPU, at::kBFloat16);
    EXPECT_EQ(at::linear(x, w).scalar_type(), at::kBFloat16);
  }
  EXPECT_TRUE(golden::bit_equal(at::linear(x, w), first));
  EXPECT_EQ(body.at("steps").at(3).at("result").at("error").at("kind"), "dtype_mismatch");
}

}  // namespace
