#include "record/verdict.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gradlab::record {
namespace {

constexpr std::array kWords = {
    std::pair{Verdict::kPass, std::string_view("pass")},
    std::pair{Verdict::kFail, std::string_view("fail")},
    std::pair{Verdict::kNotStarted, std::string_view("not_started")},
    std::pair{Verdict::kBlocked, std::string_view("blocked")},
    std::pair{Verdict::kCrashed, std::string_view("crashed")},
    std::pair{Verdict::kTimeLimit, std::string_view("time_limit")},
    std::pair{Verdict::kMemoryLimit, std::string_view("memory_limit")},
    std::pair{Verdict::kOutputLimit, std::string_view("output_limit")},
    std::pair{Verdict::kForged, std::string_view("forged")},
    std::pair{Verdict::kGraderError, std::string_view("grader_error")},
    std::pair{Verdict::kCompileError, std::string_view("compile_error")},
    std::pair{Verdict::kForbidden, std::string_view("forbidden")},
};

// pass and not_started are not here: they only decide when nothing else applies.
constexpr std::array kWorstFirst = {
    Verdict::kGraderError, Verdict::kCompileError, Verdict::kForbidden, Verdict::kTimeLimit,
    Verdict::kMemoryLimit, Verdict::kOutputLimit,  Verdict::kForged,    Verdict::kCrashed,
    Verdict::kFail,        Verdict::kBlocked,
};

}  // namespace

std::string_view to_string(Verdict verdict) {
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const auto& entry) { return entry.first == verdict; });
  return found == kWords.end() ? kWords[9].second : found->second;
}

std::optional<Verdict> verdict_from(std::string_view word) {
  for (const auto& [verdict, name] : kWords) {
    if (name == word) return verdict;
  }
  return std::nullopt;
}

bool is_check_verdict(Verdict verdict) {
  return verdict != Verdict::kCompileError && verdict != Verdict::kForbidden;
}

Verdict combine(const std::vector<Verdict>& verdicts) {
  const auto any = [&](Verdict wanted) {
    return std::find(verdicts.begin(), verdicts.end(), wanted) != verdicts.end();
  };
  if (verdicts.empty()) return Verdict::kGraderError;  // nothing was judged: never a pass
  for (const Verdict verdict : kWorstFirst) {
    if (any(verdict)) return verdict;
  }
  if (!any(Verdict::kNotStarted)) return Verdict::kPass;
  return any(Verdict::kPass) ? Verdict::kFail : Verdict::kNotStarted;
}

}  // namespace gradlab::record
