// Where events and records go: the file, the callbacks, the counts. Never throws once made.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gradlab/monitor/options.hpp"
#include "record_file.hpp"

namespace gradlab::monitor {

using Fields = std::vector<std::pair<std::string, Value>>;

class Journal {
 public:
  // THROWS Error kRecordExists, kRecordNotWritable.
  explicit Journal(const Options& options);

  // The first line: `fields` are the configuration.
  void start(const Fields& fields);
  void event(const char* name, Severity severity, int64_t step, Fields fields);
  void record(const StepRecord& record, bool with_layers);
  void end(int64_t steps, int64_t checks);

  Counts counts;

 private:
  void write(const std::string& line, int64_t step);
  template <typename Callback, typename Argument>
  void call(Callback& callback, const Argument& argument, const char* which, int64_t step);

  std::function<void(const Event&)> on_event_;
  std::function<void(const StepRecord&)> on_step_;
  std::unique_ptr<RecordFile> file_;  // null for none, or where writing failed
};

}  // namespace gradlab::monitor
