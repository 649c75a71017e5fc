#include "experiments/event_log/words.hpp"

#include <fmt/format.h>

namespace gradlab::event_log_runs {
namespace {

using event_log::Cause;
using event_log::EventName;
using event_log::Remedy;
using event_log::Severity;

// What a hand-in returns may be none of the enumeration's values.
constexpr const char* kUnknown = "no value of the contract";

const char* word(EventName name) {
  switch (name) {
    case EventName::kSkippedStep:
      return "skipped_step";
    case EventName::kNonfiniteGradient:
      return "nonfinite_gradient";
    case EventName::kExploding:
      return "exploding";
    case EventName::kVanishing:
      return "vanishing";
  }
  return kUnknown;
}

const char* word(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kCritical:
      return "critical";
  }
  return kUnknown;
}

const char* word(Cause cause) {
  switch (cause) {
    case Cause::kScaleTooHigh:
      return "scale too high";
    case Cause::kBadBatch:
      return "bad batch";
    case Cause::kDiverged:
      return "diverged";
    case Cause::kNotSkipped:
      return "not skipped";
  }
  return kUnknown;
}

const char* word(Remedy remedy) {
  switch (remedy) {
    case Remedy::kNothing:
      return "nothing to change";
    case Remedy::kLongerGrowthInterval:
      return "longer growth interval";
    case Remedy::kLookAtBatch:
      return "look at the batch";
    case Remedy::kLowerRateOrLimit:
      return "lower rate or limit";
    case Remedy::kRestoreCheckpoint:
      return "restore a checkpoint";
  }
  return kUnknown;
}

}  // namespace

void EventWords::add(int64_t step, const std::optional<event_log::Event>& event) {
  if (!event) return;
  if (!text_.empty()) text_ += "; ";
  text_ += fmt::format("step {}: {}, {}", step, word(event->name), word(event->severity));
}

std::string in_words(const std::vector<event_log::Finding>& findings) {
  constexpr size_t kMost = 60;  // of an answer that returns far too many
  std::string text;
  for (size_t i = 0; i < findings.size() && i < kMost; ++i) {
    const auto& found = findings[i];
    text += fmt::format("{}step {}, {} record{}: {}, {}", text.empty() ? "" : "; ",
                        found.first_step, found.records, found.records == 1 ? "" : "s",
                        word(found.cause), word(found.remedy));
  }
  return text.empty() ? "none" : text;
}

std::string field_in_words(const nlohmann::json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) return name.starts_with("scale") ? "null" : "missing";
  return found->is_number() ? fmt::format("{}", found->get<double>()) : found->dump();
}

}  // namespace gradlab::event_log_runs
