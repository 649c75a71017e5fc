// What came of an attack beside what must: the comparison, and how it is shown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/attack_bank.hpp"
#include "manifest/manifest.hpp"
#include "record/record.hpp"

namespace gradlab::cli {

struct AttackOutcome {
  std::string name;
  std::string promise;
  std::string lab;
  std::string expected;  // verdict and points: "forged, 0"
  std::string got;
  double seconds = 0;
  std::vector<std::string> differs;  // sentences; empty when the promise holds
  std::string not_run;               // why; then nothing is known
};

// REQUIRES: the records of the class that the attack was part of, and the notes of its folder.
AttackOutcome outcome_of(const Attack& attack, const Manifest& lab,
                         const std::vector<Record>& records, const std::vector<std::string>& notes);
AttackOutcome not_run(const Attack& attack, const std::string& why);

struct OutcomeView {
  bool colour = false;
  int width = 80;
};
// A table by promises, what differs below its row, and a summary.
std::string render_outcomes(const std::vector<AttackOutcome>& outcomes, const OutcomeView& view);
nlohmann::ordered_json to_json(const std::vector<AttackOutcome>& outcomes);

}  // namespace gradlab::cli
