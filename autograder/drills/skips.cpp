#include "drills/skips.hpp"

#include <fmt/format.h>

#include <cmath>

#include "drills/templates.hpp"
#include "drills/text.hpp"

namespace gradlab::drills {
namespace {

using training_log::Step;

std::string in_words(const SkipRow& row) {
  return row.first == row.last ? fmt::format("step {}", row.first)
                               : fmt::format("steps {} to {}", row.first, row.last);
}

std::vector<std::string> shown(const SkipRow& row) {
  const auto value = [](const std::optional<double>& of) {
    return of ? fmt::format("{:.10g}", *of) : "?";
  };
  std::vector<std::string> lines{fmt::format("{}: skipped, loss {}, scale {}", in_words(row),
                                             value(row.loss), value(row.before))};
  if (row.taken) lines.push_back(fmt::format("step {}: taken", *row.taken));
  return lines;
}

Question what_happened(const SkipRow& row) {
  const Choices::Option scaled{
      "the loss was finite, and its scaled gradients were too large for "
      "float16",
      {},
      ""};
  const Choices::Option lost{"the loss itself was inf or NaN: no scale would have helped", {}, ""};
  const bool finite = !row.loss || std::isfinite(*row.loss);
  auto right = finite ? scaled : lost, other = finite ? lost : scaled;
  other.mistake = finite ? "does not look at the loss, which is a number"
                         : "does not look at the loss, which is no finite number";
  auto q =
      ask_choice(fmt::format("What happened in {}?", in_words(row)),
                 {right,
                  other,
                  {"the gradients were clipped to nothing", {}, "mixes up a clip and a skip"},
                  {"the gradients were zero: underflow", {}, "mixes up underflow and overflow"}});
  q.hint = "Look at the loss: is it a finite number?";
  q.why = finite ? "A finite loss times the scale, and float16 ends at 65504: some scaled gradient "
                   "was inf or NaN, and found_inf says so."
                 : "The gradients of such a loss are NaN at any scale. Look at the batch.";
  return q;
}

Question what_became_of_it(const SkipRow& row) {
  auto q = ask_choice(
      row.first == row.last ? fmt::format("What became of the batch of step {}?", row.first)
                            : fmt::format("What became of the batches of {}?", in_words(row)),
      {{"nothing: they changed no weight and nothing of the optimizer", {}, ""},
       {"they were tried again with a lower scale", {}, "expects a retry: GradScaler has none"},
       {"they were applied, clipped to max_norm", {}, "mixes up a clip and a skip"},
       {"what was finite of their gradients was applied",
        {},
        "expects a part of a step: one inf anywhere, and the optimizer does not step"}});
  q.hint = "What does scaler.step do when unscale_ has found inf?";
  q.why = "scaler.step leaves optimizer.step out. The batch is lost, and the next one comes.";
  return q;
}

Question what_became_of_the_scale(const SkipRow& row) {
  auto q = ask_number(fmt::format("Which scale stood after {}?", in_words(row)), *row.after);
  if (row.before && *row.before != *row.after) {
    q.miss(*row.before, "takes the scale that overflowed");
  }
  if (row.first != row.last && row.before && *row.before / 2 != *row.after) {
    q.miss(*row.before / 2, "backs off once for the whole row: each skip does");
  }
  q.miss(*row.after / 2, "backs off once too often").miss(*row.after * 2, "leaves the last out");
  q.hint = "Each skip multiplies the scale by the backoff factor, 0.5 by default.";
  q.why = fmt::format(
      "{} skipped, each times the backoff factor.",
      row.last - row.first == 0 ? "one step" : fmt::format("{} steps", row.last - row.first + 1));
  return q;
}

}  // namespace

std::vector<SkipRow> rows_of_skips(const std::vector<Step>& steps) {
  std::vector<SkipRow> rows;
  bool inside = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    const auto number = step.step.value_or(static_cast<std::int64_t>(i));
    if (!step.skipped.value_or(false)) {
      if (inside) rows.back().taken = number;
      if (inside && !rows.back().after) rows.back().after = step.scale;
      inside = false;
      continue;
    }
    if (!inside) rows.push_back({number, number, step.loss, step.scale, {}, {}});
    inside = true;
    rows.back().last = number;
    rows.back().after = step.scale_after;
  }
  return rows;
}

std::vector<Question> questions_of(const SkipRow& row, std::uint64_t seed) {
  std::vector<Question> questions{what_happened(row), what_became_of_it(row)};
  if (row.after) questions.push_back(what_became_of_the_scale(row));
  Random random(seed_of(seed, "skips", static_cast<std::uint64_t>(row.first)));
  for (auto& question : questions) {
    question.name = fmt::format("skip {}", row.first);
    question.topic = in_words(row);
    question.kind = Kind::kLog;
    question.code = shown(row);
    question.read = "handouts/step_order.md";
    shuffle(question, random);
  }
  return questions;
}

}  // namespace gradlab::drills
