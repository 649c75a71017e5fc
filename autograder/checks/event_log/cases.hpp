// What the event_log checks of tasks 1 and 2 draw their cases with, and what arithmetic alone says
// of them: gradients are short binary fractions and scales powers of two, so that nothing rounds.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "event_log.hpp"
#include "judge/check.hpp"

class EventLog : public gradlab::Check {};

namespace gradlab::event_log_checks {

// The name of a case's flags.
constexpr const char* kSkipped = "skipped (1 true, 0 false) flags";

using List = std::vector<torch::Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A positive one.
bool is_power_of_two(double value);

torch::Tensor row(const std::vector<double>& values, torch::ScalarType dtype = torch::kFloat32);
torch::Tensor scalar(double value);  // float64
// A list of numbers, one a step: what is expected in float64, what a case holds in float32, as that
// is shown without its type.
List numbers(const std::vector<double>& values);
List inputs(const std::vector<double>& values);
std::vector<double> values_of(const List& list);

// ---- task 1

// A run: the true gradients and the loss of each step, and what the loop holds.
struct Plan {
  std::vector<std::vector<double>> gradients;  // of each step, of one length
  std::vector<double> losses = {};             // 1, 2, 3, … where there are fewer than steps
  std::optional<int64_t> scale = 64;           // none: no scaler
  int64_t growth_interval = 2000;
  std::optional<double> max_norm = {};
  double lr = 0.5;
  double decay = 1;
  int64_t in_first_group = 100;  // of the weights; what is left is a second group
  int64_t first_step = 0;
};
Case run_of(const Plan& plan);

// `steps` rows of `size` multiples of 1/4 up to 4, none of them 0.
std::vector<std::vector<double>> draw_gradients(Random& random, size_t steps, size_t size);
// An element that float16 cannot hold at any scale that is drawn.
constexpr double kTooLarge = 0x1p20;
// Multiples of 1/8 from 1/8 to 8.
std::vector<double> draw_losses(Random& random, size_t steps);

// What the records of a run have to hold, from the case alone.
struct Expected {
  std::vector<double> norms;  // inf where it was skipped
  std::vector<bool> overflows;
  std::vector<double> scales;  // empty without a scaler
  std::vector<double> scales_after;
  std::vector<double> rates;
};
Expected expected(const Case& in);

TensorRule exactly(const std::vector<double>& values);
// Within 1e-5 where a step was taken; where it overflowed, inf and NaN are the same.
TensorRule norms(const Run& run, const Expected& want);
// The same of the overflows alone: what stands in the other steps is taken as it came.
TensorRule norms_of_skips(const Run& run, const Expected& want);

// ---- task 2

struct Watched {
  std::vector<double> norms;
  std::vector<size_t> skipped = {};  // which of them
  double mean = 0;
  double variance = 0.1444;  // 2.5 deviations are 0.95 decades, so the margin is 1
  int64_t updates = 20;
};
Case watched(const Watched& of);

}  // namespace gradlab::event_log_checks
