#include "training_log/finding.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace gradlab::training_log {

const char* word_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow:
      return "low";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kHigh:
      return "high";
  }
  return "";
}

const Diagnosis& diagnosis(const std::string& name) {
  for (const Diagnosis& each : catalogue()) {
    if (name == each.name) return each;
  }
  throw std::out_of_range("no diagnosis is named " + name);
}

Finding finding(const std::string& name, std::int64_t first, std::int64_t last) {
  Finding made;
  made.name = name;
  made.severity = diagnosis(name).severity;
  made.first = first;
  made.last = last;
  return made;
}

void drop_symptoms(std::vector<Finding>& findings) {
  struct Symptom {
    const char* of;
    const char* name;
  };
  static constexpr Symptom kSymptoms[] = {
      {"loss_scaled", "divergence"},  {"loss_scaled", "divergence_at_warmup_end"},
      {"loss_scaled", "loss_spike"},  {"loss_scaled", "spike_same_data"},
      {"norm_scaled", "clip_always"},
  };
  const auto has = [&](const char* name) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& each) { return each.name == name; });
  };
  for (const Symptom& symptom : kSymptoms) {
    if (!has(symptom.of)) continue;
    std::erase_if(findings, [&](const Finding& each) { return each.name == symptom.name; });
  }
}

void rank(std::vector<Finding>& findings) {
  const auto key = [](const Finding& each) {
    return std::tuple(-static_cast<int>(each.severity), -static_cast<int>(each.confidence),
                      each.first, each.name);
  };
  std::sort(findings.begin(), findings.end(),
            [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

}  // namespace gradlab::training_log
