// How fast the library is beside LibTorch, both sides in one run, turn by turn: prints one JSON object.
// amp_bench [--rounds N] [--most ELEMENTS]
#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/bare_pass.hpp"
#include "gradlab/amp/amp.hpp"

namespace {

namespace amp = gradlab::amp;
using Json = nlohmann::ordered_json;
using Tensors = std::vector<torch::Tensor>;

struct Settings {
  int rounds = 9;
  int64_t most = 50'000'000;
};

// Seconds of one call, repeated within a round until it takes long enough to be timed.
double seconds(const std::function<void()>& call, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) call();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() / repeats;
}

// Every side in turn, so that a busy machine slows all of them; the best and the middle of the rounds.
Json compare(const std::vector<std::pair<std::string, std::function<void()>>>& sides, int repeats,
             int rounds) {
  std::map<std::string, std::vector<double>> times;
  for (int round = 0; round <= rounds; ++round) {
    for (const auto& [name, call] : sides) {
      const double took = seconds(call, repeats);
      if (round > 0) times[name].push_back(took);  // the first warms up
    }
  }
  Json result;
  for (const auto& [name, call] : sides) {
    auto& all = times[name];
    std::sort(all.begin(), all.end());
    result[name] = {{"best_us", all.front() * 1e6}, {"median_us", all[all.size() / 2] * 1e6}};
  }
  return result;
}

double ratio(const Json& sides, const char* slow, const char* fast, const char* figure) {
  return sides.at(slow).at(figure).get<double>() / sides.at(fast).at(figure).get<double>();
}

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

// The calls of one size. Gradients change little from call to call: scales 2 and 0.5 take turns, and
// the limit stays just below the norm.
Json one_size(int64_t elements, int64_t tensors, const Settings& settings) {
  const Tensors parameters = parameters_of(elements, tensors);
  Tensors gradients;
  for (const auto& parameter : parameters) gradients.push_back(parameter.grad());
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.0));
  amp::GradScaler scaler;
  scaler.scale(torch::ones({}));
  double scale = 2;
  const auto next_scale = [&] {
    scale = 1 / scale;
    scaler.update(scale);
  };
  const double max_norm =
      0.9999 * amp::get_total_norm(gradients).item<double>();  // clips a little, always
  const auto whole = torch::rand({elements});
  amp::ClipOptions fused;
  fused.fused = true;
  auto inverse = torch::ones({});
  auto found_inf = torch::zeros({});

  const int repeats = static_cast<int>(std::max<int64_t>(1, 2'000'000 / (elements + 1000 * tensors)));
  Json sides = compare(
      {{"three_calls_of_libtorch",
        [&] {
          next_scale();
          inverse.fill_(1 / scale);
          found_inf.zero_();
          at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, inverse);
          torch::nn::utils::clip_grad_norm_(parameters, 1e30);
        }},
       {"three_calls_of_ours",
        [&] {
          next_scale();
          scaler.unscale_(optimizer);
          amp::clip_grad_norm_(amp::parameters_of(optimizer), 1e30);
        }},
       {"unscale_and_clip",
        [&] {
          next_scale();
          amp::unscale_and_clip_(scaler, optimizer, 1e30);
        }},
       {"bare_pass", [&] { bench::bare_pass(whole, 1.0000001F); }},
       {"clip_of_libtorch", [&] { torch::nn::utils::clip_grad_norm_(parameters, max_norm); }},
       {"clip_of_ours", [&] { amp::clip_grad_norm_(parameters, max_norm); }},
       {"clip_fused", [&] { amp::clip_grad_norm_(parameters, max_norm * 0.9999, fused); }}},
      repeats, settings.rounds);
  Json ratios;
  for (const char* figure : {"best_us", "median_us"}) {
    ratios[figure] = {
        {"three_calls_over_fused", ratio(sides, "three_calls_of_libtorch", "unscale_and_clip", figure)},
        {"bandwidth_of_bare_pass", ratio(sides, "bare_pass", "unscale_and_clip", figure)},
        {"libtorch_clip_over_fused", ratio(sides, "clip_of_libtorch", "clip_fused", figure)},
        {"libtorch_clip_over_plain", ratio(sides, "clip_of_libtorch", "clip_of_ours", figure)}};
  }
  return {{"elements", elements}, {"tensors", tensors}, {"repeats", repeats},
          {"sides", sides},       {"ratios", ratios}};
}

// A whole step of the scaler on a tiny model, without the optimizer's own work: what it costs a loop.
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
