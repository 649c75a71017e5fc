#include "training_log/step.hpp"

#include "training_log/number.hpp"

namespace gradlab::training_log {

const char* word_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kCritical:
      return "critical";
  }
  return "";
}

std::optional<Severity> severity_of(const std::string& word) {
  const std::string plain = lower(word);
  if (plain == "info" || plain == "debug" || plain == "action" || plain == "proof") {
    return Severity::kInfo;
  }
  if (plain == "warning" || plain == "warn") return Severity::kWarning;
  if (plain == "critical" || plain == "error" || plain == "fatal") return Severity::kCritical;
  return std::nullopt;
}

}  // namespace gradlab::training_log
