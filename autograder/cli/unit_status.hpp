// How far a student is with the unit, gathered from what the commands keep. Reads alone.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/closed_book.hpp"
#include "cli/workspace.hpp"

namespace gradlab::cli {

struct LabStatus {
  std::string slug, title;
  bool started = false;
  bool passes = false;       // all core tasks, and the file is the one that was checked
  bool changed = false;      // since the last check
  std::optional<int> score;  // of the last check
  int max_score = 0;
  std::string sha256;  // of the checked file
  double minutes = 0;  // spent, as far as the commands can tell
  int planned_minutes = 0;
};

struct LogStatus {
  std::string file, sha256;
  size_t skips = 0, explained = 0;
};

// One of the things that the unit asks for.
struct Criterion {
  std::string asks;  // "clipping matches"
  bool met = false;
  std::string stands;  // "30 of 30"
  std::string next;    // the command that goes on; "" where it is met
};

struct UnitStatus {
  std::vector<LabStatus> labs;
  std::vector<LogStatus> logs;
  std::vector<Criterion> criteria;
  std::vector<ClosedBookResult> from_memory;  // the best of each lab
  size_t drills_seen = 0, drills_of = 0, drills_due = 0;
  double minutes = 0;  // of the labs in all
  bool complete() const;
  std::string next() const;  // the first command that is left; "" where nothing is
};

inline constexpr double kUnitMinutes = 180;

UnitStatus status_of_unit(const Workspace& workspace);

// For a program, and for who it is handed in to.
nlohmann::ordered_json to_json(const UnitStatus& status);

}  // namespace gradlab::cli
