#include "cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "judge/shrink.hpp"

std::vector<gradlab::Observation> StepOrder::judged(const std::string& experiment,
                                                    const std::vector<gradlab::Case>& cases) {
  auto got = subject().observe(experiment, cases);
  for (const auto& run : gradlab::together(cases, got, got)) {
    EXPECT_THAT(run.got, gradlab::Word("the_calls", "every call to return"));
  }
  auto& context = gradlab::context();
  if (!context.failures.empty()) {
    context.stopped = true;
    throw std::runtime_error("thrown");
  }
  return got;
}

namespace gradlab::step_order_checks {
namespace {

// As a target: its gradient is below float16's end while it is not scaled, and above it at a scale
// of 8 and more, whatever the number of rows.
constexpr double kLarge = 30000;

// Positive eighths, which float16 holds exactly.
torch::Tensor draw_eighths(Random& random, torch::IntArrayRef shape, int64_t low, int64_t high) {
  auto values = torch::empty(shape, torch::kFloat32);
  float* data = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    data[i] = static_cast<float>(random.integer(low, high)) / 8;
  }
  return values;
}

torch::Tensor draw_weights(Random& random, torch::IntArrayRef shape) {
  auto values = draw_eighths(random, shape, 2, 8);
  float* data = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    if (random.chance(0.5)) data[i] = -data[i];
  }
  return values;
}

void change(Case& in, const std::string& name, size_t batch, double value) {
  auto list = in.tensors(name);
  list.at(batch) = list.at(batch).clone();
  list.at(batch).flatten()[0].fill_(value);
  in.set(name, std::move(list));
}

bool is_ordinary(const torch::Tensor& values) {
  // NaN compares false.
  return (values.abs() < kLarge).all().item<bool>();
}

bool fits_together(const List& weights, const List& inputs, const List& targets) {
  if (weights.empty() || inputs.empty() || inputs.size() != targets.size()) return false;
  for (size_t i = 1; i < weights.size(); ++i) {
    if (weights[i].size(1) != weights[i - 1].size(0)) return false;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].numel() == 0 || inputs[i].size(0) != targets[i].size(0) ||
        inputs[i].size(1) != weights.front().size(1) ||
        targets[i].size(1) != weights.back().size(0)) {
      return false;
    }
  }
  return true;
}

bool is_whole(const Case& in, const Names& names) {
  return fits_together(in.tensors(names.weights), in.tensors(names.inputs),
                       in.tensors(names.targets));
}

// A case may be made smaller for display while its shapes fit, and its steps and limit are steps
// and limit.
bool decided_by_the_contract(const Case& in) {
  for (const auto& [name, value] : in.all_numbers()) {
    if (!std::isfinite(value) || (value <= 0 && name != "momentum")) return false;
  }
  if (!in.all_tensors().contains("weights_of_first")) {
    const auto& integers = in.all_integers();
    const auto groups = integers.find("weights_in_first_group");
    if (groups != integers.end() &&
        static_cast<size_t>(groups->second) >= in.tensors("weights").size()) {
      return false;
    }
    return is_whole(in, {});
  }
  return is_whole(in, first_names()) && is_whole(in, second_names()) &&
         batch_count(in, first_names()) == batch_count(in, second_names());
}

[[maybe_unused]] const bool kBounds = shrink_only_to(decided_by_the_contract);

}  // namespace

Names first_names() { return {"weights_of_first", "inputs_of_first", "targets_of_first"}; }
Names second_names() { return {"weights_of_second", "inputs_of_second", "targets_of_second"}; }

void add_model(Random& random, Case& in, const Names& names, int steps, bool two_layers,
               int64_t rows_of_each) {
  const int64_t width = random.integer(2, 3), hidden = 2;
  if (two_layers) in.add(names.weights, draw_weights(random, {hidden, width}));
  in.add(names.weights, draw_weights(random, {1, two_layers ? hidden : width}));
  for (int i = 0; i < steps; ++i) {
    const int64_t rows = rows_of_each > 0 ? rows_of_each : random.integer(1, 3);
    in.add(names.inputs, draw_eighths(random, {rows, width}, 2, 8));
    const auto targets = draw_eighths(random, {rows, 1}, 28, 40);
    in.add(names.targets, random.chance(0.5) ? -targets : targets);
  }
}

Case draw_run(Random& random, const Plan& plan) {
  Case in;
  add_model(random, in, {}, plan.steps, plan.two_layers, plan.rows);
  return in.number("lr", plan.lr)
      .number("momentum", plan.momentum)
      .number("max_norm", plan.max_norm)
      .integer("init_scale", plan.init_scale)
      .integer("growth_interval", plan.growth_interval);
}

torch::Tensor row(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64).to(torch::kFloat32);
}

Case one_row(const std::vector<double>& weights, const std::vector<double>& x, double y, double lr,
             double max_norm, int64_t scale) {
  Case in;
  in.add("weights", row(weights).view({1, -1}));
  add_batch(in, x, y);
  return in.number("lr", lr)
      .number("momentum", 0)
      .number("max_norm", max_norm)
      .integer("init_scale", scale)
      .integer("growth_interval", 2000);
}

Case at_first_scale(Random& random, int steps) {
  auto in = one_row({small_weight(random)}, {1}, 0, 0.25, kNoLimit, kFirstScale);
  for (int i = 1; i < steps; ++i) add_batch(in, {1}, 0);
  return in;
}

double small_weight(Random& random) { return static_cast<double>(random.integer(2, 6)) / 32; }

void add_batch(Case& in, const std::vector<double>& x, double y) {
  in.add("inputs", row(x).view({1, -1}));
  in.add("targets", row({y}).view({1, 1}));
}

Case golden(int steps, double x, double lr, double max_norm) {
  Case in;
  in.add("weights", torch::ones({1, 4}));
  for (int i = 0; i < steps; ++i) {
    in.add("inputs", torch::full({2, 4}, x));
    in.add("targets", torch::zeros({2, 1}));
  }
  return in.number("lr", lr).number("max_norm", max_norm);
}

Overflow overflow_of(int index) { return static_cast<Overflow>(index % kOverflows); }

void overflow(Case& in, size_t batch, Overflow how, const Names& names) {
  switch (how) {
    case Overflow::kLargeTarget:
      return change(in, names.targets, batch, kLarge);
    case Overflow::kInfInput:
      return change(in, names.inputs, batch, std::numeric_limits<double>::infinity());
    case Overflow::kNanTarget:
      return change(in, names.targets, batch, std::numeric_limits<double>::quiet_NaN());
    case Overflow::kLargeInput:
      return change(in, names.inputs, batch, 4 * kLarge);
  }
}

bool overflows(const Case& in, size_t batch, const Names& names) {
  return !is_ordinary(in.tensors(names.inputs).at(batch)) ||
         !is_ordinary(in.tensors(names.targets).at(batch));
}

std::vector<bool> skips_of(const Case& in, const Names& names, size_t window) {
  std::vector<bool> skips;
  for (size_t i = 0; i < batch_count(in, names); ++i) {
    if (i % window == 0) skips.push_back(false);
    if (overflows(in, i, names)) skips.back() = true;
  }
  return skips;
}

size_t batch_count(const Case& in, const Names& names) { return in.tensors(names.inputs).size(); }

torch::Tensor start_of(const Case& in, const Names& names) {
  List flat;
  for (const auto& weight : in.tensors(names.weights)) flat.push_back(weight.detach().flatten());
  return torch::cat(flat);
}

TensorRule near_reference(const Run& run, const std::string& what, const Names& names) {
  const auto& want = run.want.tensors(what);
  const bool is_momentum = what.starts_with("momentum");
  const auto start =
      is_momentum ? torch::zeros_like(start_of(run.in, names)) : start_of(run.in, names);
  double travel = 0;
  for (const auto& at : want) travel = std::max(travel, (at - start).abs().max().item<double>());
  return CloseTo(want, {.absolute = travel / 20 + 1e-6, .relative = 0});
}

const List& list_of(const Observation& seen, const std::string& what) {
  static const List kNone;
  const auto found = seen.all_tensors().find(what);
  return found == seen.all_tensors().end() ? kNone : found->second;
}

TensorRule unchanged_where(const std::vector<bool>& skipped, const List& got,
                           const torch::Tensor& start) {
  List expected;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool skip = i < skipped.size() && skipped[i];
    expected.push_back(!skip ? got[i] : i == 0 ? start : got[i - 1]);
  }
  return BitEqualTo(expected, "unchanged by a skip");
}

TensorRule exactly(const std::vector<double>& values) {
  List expected;
  for (const double value : values) expected.push_back(torch::full({}, value, torch::kFloat64));
  return CloseTo(expected, {.absolute = 0, .relative = 1e-12});  // decimal fractions round
}

TensorRule as_reference(const Run& run, const std::string& what) {
  return BitEqualTo(run.want.tensors(what));
}

}  // namespace gradlab::step_order_checks
