#include "journal.hpp"

#include <chrono>
#include <cmath>

#include "errors.hpp"
#include "json_line.hpp"

namespace gradlab::monitor {
namespace {

// Seconds since 1970 with three decimals.
double now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  return static_cast<double>(ms) / 1000;
}

}  // namespace

Journal::Journal(const Options& options) : on_event_(options.on_event), on_step_(options.on_step) {
  if (!options.path.empty()) file_ = std::make_unique<RecordFile>(options.path, options.mode);
}

void Journal::start(const Fields& fields) {
  JsonLine line;
  line.add("event", "run_start").add("format", "gradlab-log-1").add("time", now());
  for (const auto& [name, value] : fields) line.add(name, value);
  write(line.text(), 0);
}

void Journal::event(const char* name, Severity severity, int64_t step, Fields fields) {
  const Event event{name, severity, step, std::move(fields)};
  JsonLine line;
  line.add("event", event.name)
      .add("severity", monitor::name(severity))
      .add("step", step)
      .add("time", now());
  for (const auto& [field, value] : event.fields) line.add(field, value);
  write(line.text(), step);
  call(on_event_, event, "on_event", step);
}

void Journal::record(const StepRecord& record, bool with_layers) {
  if (file_) {
    JsonLine line;
    line.add("event", "step")
        .add("step", record.step)
        .add("loss", record.loss)
        .add("scale", record.scale)
        .add("scale_after", record.scale_after)
        .add("norm", record.norm)
        .add("clipped", record.clipped)
        .add("skipped", record.skipped)
        .add("lr", record.lr)
        .add("skipped_total", record.skipped_total)
        .add("time", now());
    if (record.max_norm) line.add("max_norm", record.max_norm);
    if (record.growth_tracker) line.add("growth_tracker", *record.growth_tracker);
    if (with_layers && !record.layers.empty()) line.add("layers", record.layers);
    write(line.text(), record.step);
  }
  call(on_step_, record, "on_step", record.step);
}

void Journal::end(int64_t steps, int64_t checks) {
  JsonLine line;
  line.add("event", "run_end").add("time", now()).add("steps", steps).add("checks", checks);
  line.add("counts", counts);
  write(line.text(), steps);
  file_.reset();
}

void Journal::write(const std::string& line, int64_t step) {
  if (!file_ || file_->write(line)) return;
  file_.reset();
  ++counts.errors;
  event("record_error", Severity::kCritical, step,
        {{"message", std::string(messages::kRecordStopped)}});
}

template <typename Callback, typename Argument>
void Journal::call(Callback& callback, const Argument& argument, const char* which, int64_t step) {
  if (!callback) return;
  std::string why;
  try {
    callback(argument);
    return;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "an exception that is no std::exception";
  }
  callback = nullptr;
  ++counts.errors;
  event("sink_error", Severity::kWarning, step,
        {{"sink", std::string(which)},
         {"error", why},
         {"message", std::string(messages::kSinkDropped)}});
}

}  // namespace gradlab::monitor
