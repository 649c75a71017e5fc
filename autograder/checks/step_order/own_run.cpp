// The run behind `./gradlab run step_order`: a small model on drawn data, some of which overflows,
// trained by the answer to task 5 and written down as handouts/log_format.md has it.
#include "judge/own_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::step_order_checks;
using Line = nlohmann::ordered_json;

constexpr size_t kSteps = 48;

// One batch more than lines: the scale after the last line is the one that the next step uses.
Case draw_data(Random& random) {
  auto in = golden(kSteps + 1, random.pick<double>({5, 6, 7, 9, 11, 12}), 0.03125, 1);
  const auto how = overflow_of(static_cast<int>(random.integer(0, kOverflows - 1)));
  overflow(in, static_cast<size_t>(random.integer(14, 22)), how);
  overflow(in, static_cast<size_t>(random.integer(26, 42)), Overflow::kLargeTarget);
  return in;
}

Line number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double value_of(const Observation& seen, const char* name, size_t step) {
  const auto& all = list_of(seen, name);
  if (step >= all.size() || !all[step].defined() || all[step].numel() != 1) {
    throw std::runtime_error(fmt::format("the run has no {} of step {}", name, step));
  }
  return all[step].item<double>();
}

Line step_line(const Case& in, const Observation& seen, size_t step) {
  const auto value = [&](const char* name, size_t of) { return value_of(seen, name, of); };
  const bool skipped = value("stepped_of_steps", step) == 0;
  const double norm = value("norm_of_steps", step), max_norm = in.number("max_norm");
  return {{"event", "step"},
          {"step", step},
          {"loss", number(value("loss_of_steps", step))},
          {"scale", number(value("scale_of_steps", step))},
          {"scale_after", number(value("scale_of_steps", step + 1))},
          {"norm", number(norm)},
          {"clipped", !skipped && norm > max_norm},
          {"skipped", skipped},
          {"lr", in.number("lr")},
          {"max_norm", max_norm}};
}

std::vector<Line> lines_of(const Case& in, const Observation& seen) {
  const auto& calls = seen.word("the_calls");
  if (calls != "every call to return") throw std::runtime_error("train ended early: " + calls);
  const auto records = seen.number("number_of_records");
  if (records != kSteps + 1) {
    throw std::runtime_error(
        fmt::format("train returned {} records for {} batches", records, kSteps + 1));
  }
  std::vector<Line> lines{
      {{"event", "run_start"}, {"format", "gradlab-log-1"}, {"name", "step_order"}}};
  for (size_t step = 0; step < kSteps; ++step) lines.push_back(step_line(in, seen, step));
  lines.push_back({{"event", "run_end"}, {"steps", kSteps}});
  return lines;
}

[[maybe_unused]] const bool kRun = offers_run({"training_run", draw_data, lines_of});

}  // namespace
