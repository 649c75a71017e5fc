// What readers hand over, kept; and a report of a text.
#pragma once

#include <string>
#include <vector>

#include "temp_folder.hpp"
#include "training_log/reading.hpp"

namespace gradlab::training_log {

class Kept : public Sink {
 public:
  void step(Step step) override { steps.push_back(std::move(step)); }
  void event(Event event) override { events.push_back(std::move(event)); }
  std::vector<Step> steps;
  std::vector<Event> events;
};

inline Report report_of(const std::string& bytes, const ReadOptions& options = {}) {
  const gradlab::testing::TempFolder folder;
  return read_log(folder.write("run.log", bytes).string(), options);
}

inline std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (const Finding& finding : report.all()) names.push_back(finding.name);
  return names;
}

// The steps that a listener behind all the reading would see.
inline std::vector<Step> steps_of(const std::string& bytes) {
  std::vector<Step> steps;
  ReadOptions options;
  options.on_step = [&](const Step& step) { steps.push_back(step); };
  report_of(bytes, options);
  return steps;
}

}  // namespace gradlab::training_log
