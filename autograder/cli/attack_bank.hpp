// tests/attacks/bank.toml as data: hand-ins that attack the grader, by the promise that each tests,
// with what must come of it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/verdict.hpp"

namespace gradlab::cli {

struct Attack {
  std::string name;
  std::string promise;
  std::string lab;
  std::string student;  // as the record must name it; hostile for some

  std::optional<record::Verdict> verdict;  // none: the folder holds no hand-in of that name
  std::string reads;  // part of what the student reads, or of a note where there is no verdict
  // Where isolation container tells it in another way: there a file that a full box does not have
  // is there, and closed.
  struct Otherwise {
    record::Verdict verdict;
    std::string reads;
  };
  std::optional<Otherwise> in_container;
  std::vector<int> keeps;  // tasks with all their points; the others have none

  // What lies in the class's folder, as "copy PLACE FILE", "text PLACE TEXT", "link PLACE TARGET",
  // "fifo PLACE", "device PLACE"; %0A is that byte.
  std::vector<std::string> entries;
  std::vector<std::string> environment;  // NAME=VALUE, set while this one is graded by itself
};

struct AttackBank {
  std::map<std::string, std::string> honest;  // by lab: a right answer, from the root on
  std::vector<Attack> attacks;                // in the order of the file

  const Attack* find(const std::string& name) const;  // null when there is none
};

// Throws ManifestError with file, line and key.
AttackBank read_attack_bank(const std::filesystem::path& bank);

// Puts what the attack consists of into the class's folder. False where it needs root (a device).
// Throws GraderFault when a file is missing.
bool lay_out(const Attack& attack, const std::filesystem::path& root,
             const std::filesystem::path& folder);

// "%0A" as that byte.
std::string without_percent(const std::string& text);

}  // namespace gradlab::cli
