// The words for how something went, and the one rule that combines them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace gradlab::record {

enum class Verdict {
  kPass,
  kFail,
  kNotStarted,
  kBlocked,
  kCrashed,
  kTimeLimit,
  kMemoryLimit,
  kOutputLimit,
  kForged,
  kGraderError,
  kCompileError,  // only of a hand-in
  kForbidden,     // only of a hand-in
};

std::string_view to_string(Verdict verdict);  // "time_limit"
std::optional<Verdict> verdict_from(std::string_view word);
bool is_check_verdict(Verdict verdict);  // false for compile_error and forbidden

// The verdict of a task from its checks, or of a hand-in from its tasks: the first that applies of
// grader_error, compile_error, forbidden, time_limit, memory_limit, output_limit, forged, crashed,
// fail, blocked, not_started, pass; part pass and part not_started is fail. Of none: grader_error.
Verdict combine(const std::vector<Verdict>& verdicts);

}  // namespace gradlab::record

namespace gradlab {
using record::Verdict;
}
