// How fast the library is beside LibTorch, both sides in one run, turn by turn: prints one JSON
// object. amp_bench [--rounds N] [--most ELEMENTS]
#include <ATen/Parallel.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "bench/bare_pass.hpp"
#include "bench/compare.hpp"
#include "gradlab/amp/amp.hpp"

namespace {

namespace amp = gradlab::amp;
using bench::compare;
using bench::Json;
using bench::ratio;
using bench::Side;
using Tensors = std::vector<torch::Tensor>;

struct Settings {
  int rounds = 9;
  int64_t most = 50'000'000;
};

Tensors parameters_of(int64_t elements, int64_t tensors) {
  torch::manual_seed(1);
  Tensors all;
  for (int64_t i = 0; i < tensors; ++i) {
    const int64_t size = elements * (i + 1) / tensors - elements * i / tensors;
    auto parameter = torch::zeros({size});
    parameter.mutable_grad() = torch::rand({size}).sub_(0.5);
    all.push_back(parameter);
  }
  return all;
}

// unscale_, norm and clip. Scales 2 and 0.5 take turns, so that gradients stay what they are; the
// limit is far above the norm: every side multiplies all the same.
class UnscaleSides {
 public:
  UnscaleSides(int64_t elements, int64_t tensors)
      : parameters_(parameters_of(elements, tensors)),
        optimizer_(parameters_, torch::optim::SGDOptions(0.0)) {
    for (const auto& parameter : parameters_) gradients_.push_back(parameter.grad());
    scaler_.scale(torch::ones({}));
  }

  std::vector<Side> all() {
    return {{"three_calls_of_libtorch", [this] { libtorch(); }},
            {"three_calls_of_ours", [this] { ours(); }},
            {"unscale_and_clip",
             [this] {
               next_scale();
               amp::unscale_and_clip_(scaler_, optimizer_, kFar);
             }},
            {"bare_pass", [this] { bench::bare_pass(gradients_, 1.0000001F); }}};
  }

 private:
  static constexpr double kFar = 1e30;

  void next_scale() {
    scale_ = 1 / scale_;
    scaler_.update(scale_);
  }
  void libtorch() {
    next_scale();
    inverse_.fill_(1 / scale_);
    found_inf_.zero_();
    at::_amp_foreach_non_finite_check_and_unscale_(gradients_, found_inf_, inverse_);
    torch::nn::utils::clip_grad_norm_(parameters_, kFar);
  }
  void ours() {
    next_scale();
    scaler_.unscale_(optimizer_);
    amp::clip_grad_norm_(amp::parameters_of(optimizer_), kFar);
  }

  Tensors parameters_, gradients_;
  torch::Tensor inverse_ = torch::ones({}), found_inf_ = torch::zeros({});
  torch::optim::SGD optimizer_;
  amp::GradScaler scaler_;
  double scale_ = 2;
};

// Clipping alone. The limit shrinks a little from call to call, so that every call clips.
class ClipSides {
 public:
  ClipSides(int64_t elements, int64_t tensors) : parameters_(parameters_of(elements, tensors)) {
    limit_ = amp::clip_grad_norm_(parameters_, 1e30).item<double>();
    fused_.fused = true;
  }

  std::vector<Side> all() {
    return {{"clip_of_libtorch",
             [this] { torch::nn::utils::clip_grad_norm_(parameters_, next_limit()); }},
            {"clip_of_ours", [this] { amp::clip_grad_norm_(parameters_, next_limit()); }},
            {"clip_fused", [this] { amp::clip_grad_norm_(parameters_, next_limit(), fused_); }}};
  }

 private:
  double next_limit() { return limit_ *= 0.99999; }

  Tensors parameters_;
  double limit_;
  amp::ClipOptions fused_;
};

Json one_size(int64_t elements, int64_t tensors, const Settings& settings) {
  const int repeats =
      static_cast<int>(std::max<int64_t>(1, 2'000'000 / (elements + 1000 * tensors)));
  UnscaleSides unscale(elements, tensors);
  ClipSides clip(elements, tensors);
  std::vector<Side> all = unscale.all();
  for (Side& side : clip.all()) all.push_back(std::move(side));
  const Json sides = compare(all, repeats, settings.rounds);
  return {{"elements", elements},
          {"tensors", tensors},
          {"repeats", repeats},
          {"sides", sides},
          {"ratios",
           {{"three_calls_over_fused", ratio(sides, "three_calls_of_libtorch", "unscale_and_clip")},
            {"bandwidth_of_bare_pass", ratio(sides, "bare_pass", "unscale_and_clip")},
            {"libtorch_clip_over_fused", ratio(sides, "clip_of_libtorch", "clip_fused")},
            {"libtorch_clip_over_plain", ratio(sides, "clip_of_libtorch", "clip_of_ours")}}}};
}

// A whole step of the scaler on a tiny model, without the optimizer's own work: what it costs a
// loop.
Json tiny_step(const Settings& settings) {
  const Tensors parameters = parameters_of(64, 4);
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.0));
  amp::GradScaler scaler;
  const auto loss = torch::ones({});
  return compare({{"optimizer_step", [&] { optimizer.step(); }},
                  {"scale_step_update",
                   [&] {
                     scaler.scale(loss);
                     scaler.step(optimizer);
                     scaler.update();
                   }}},
                 2000, settings.rounds);
}

double load() {
  double one = 0;
  std::ifstream("/proc/loadavg") >> one;
  return one;
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) settings.rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--most") == 0) settings.most = std::atoll(argv[i + 1]);
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = settings_of(argc, argv);
  Json report;
  report["bench"] = "amp";
  report["libtorch"] = TORCH_VERSION;
  report["threads"] = at::get_num_threads();
  report["load_before"] = load();
  report["sizes"] = Json::array();
  for (const int64_t elements : {1'000L, 1'000'000L, 50'000'000L}) {
    if (elements > settings.most) continue;
    for (const int64_t tensors : {2, 50, 300}) {
      report["sizes"].push_back(one_size(elements, tensors, settings));
    }
  }
  report["tiny_step"] = tiny_step(settings);
  report["load_after"] = load();
  std::cout << report.dump(1) << "\n";
  return 0;
}
