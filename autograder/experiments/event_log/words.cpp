#include "experiments/event_log/words.hpp"

#include <fmt/format.h>

#include <cctype>

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

// The word, or the one character, around this place: what does not depend on how the rest of a line
// is written.
std::string word_around(const std::string& text, size_t at) {
  if (at >= text.size()) return "its end";
  const auto in_word = [&](size_t i) {
    return std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '-' || text[i] == '+';
  };
  size_t begin = at;
  size_t end = at + 1;
  if (in_word(at)) {
    while (begin > 0 && in_word(begin - 1)) --begin;
    while (end < text.size() && in_word(end)) ++end;
  }
  return text.substr(begin, end - begin);
}

}  // namespace

ParsedLine parsed(const std::string& line) {
  try {
    auto json = nlohmann::json::parse(line);
    if (json.is_object()) return {std::move(json), "a JSON object"};
    return {{}, "JSON, but no object"};
  } catch (const nlohmann::json::parse_error& error) {
    const size_t at = error.byte == 0 ? 0 : error.byte - 1;
    return {{}, fmt::format("no JSON: a strict parser stops at {}", word_around(line, at))};
  } catch (const nlohmann::json::exception&) {
    return {{}, "JSON with a number that no double holds"};
  }
}

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
