#include "training_log/finding.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace gradlab::training_log {

const char* word_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow: return "low";
    case Confidence::kMedium: return "medium";
    case Confidence::kHigh: return "high";
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

void rank(std::vector<Finding>& findings) {
  const auto key = [](const Finding& each) {
    return std::tuple(-static_cast<int>(each.severity), -static_cast<int>(each.confidence),
                      each.first, each.name);
  };
  std::sort(findings.begin(), findings.end(),
            [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

}  // namespace gradlab::training_log
