// What `check` says below a task that is not passed: check by check, the first failure in full, of
// the others what differs. Nothing is said twice.
#pragma once

#include <set>
#include <string>

#include "record/record.hpp"
#include "render/sheet.hpp"

namespace gradlab::render {

class FailureText {
 public:
  FailureText(const Record& record, Sheet& sheet) : record_(record), sheet_(sheet) {}

  void task(const record::Task& task);
  // The misconceptions alone, each once with the checks that show it.
  void diagnoses();

 private:
  bool all_alike(const record::Task& task);
  void fault(const record::Task& task);
  void check_row(const record::Check& check);
  void below(const record::Task& task, const record::Check& check);
  void in_full(const record::Task& task, const record::Check& check);
  void calls(const record::Failing& failing);  // beside those that the answer makes
  void in_brief(const record::Check& check);
  void behaviour(const record::Check& check);
  void read_on(const record::Task& task, const record::Check& check, int indent);

  const Record& record_;
  Sheet& sheet_;
  bool first_ = true;              // of the failures of this task
  std::set<std::string> said_;     // messages below this task
  std::set<std::string> for_all_;  // messages that stood for all checks of a task
  std::set<std::string> behaves_;  // bugs whose question has been asked
  bool guards_ = false;            // why a guard waits has been said
};

}  // namespace gradlab::render
