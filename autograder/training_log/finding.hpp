// What a log points to, and the catalogue of all that can be told.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "training_log/step.hpp"

namespace gradlab::training_log {

// How sure the evidence makes it: kHigh where nothing else explains it.
enum class Confidence { kLow, kMedium, kHigh };
const char* word_of(Confidence confidence);  // "low", "medium", "high"

struct Diagnosis {
  const char* name;  // "scale_collapse"
  Severity severity;
  const char* title;
  const char* meaning;                    // one sentence
  std::vector<const char*> change_first;  // in the order to try them
};

// All of them, in the order of the handout (handouts/reading_logs.md), which a test holds to it.
std::span<const Diagnosis> catalogue();
const Diagnosis& diagnosis(const std::string& name);  // throws std::out_of_range

struct Finding {
  std::string name;
  Severity severity = Severity::kInfo;  // the catalogue's, unless the log shows more or less of it
  Confidence confidence = Confidence::kHigh;
  std::int64_t first = 0, last = 0;   // steps
  std::vector<std::string> evidence;  // what was seen, with numbers
  std::vector<std::string> causes;    // likeliest first, where more than one explains it
};
Finding finding(const std::string& name, std::int64_t first, std::int64_t last);

// Leaves out what another finding explains: a loss that is logged scaled spikes where the scale
// grows.
void drop_symptoms(std::vector<Finding>& findings);

// Critical before warning before info; within one by confidence, then by step.
void rank(std::vector<Finding>& findings);

}  // namespace gradlab::training_log
