// One object a line: gradlab's own record, ormas's diary and metrics, and any trainer's JSON lines.
#include <cmath>

#include "training_log/number.hpp"
#include "training_log/readers/readers.hpp"

namespace gradlab::training_log {
namespace {

std::string told(const Fields& fields) {
  for (const char* name : {"message", "diagnosis", "reason", "error"}) {
    if (const std::string text = fields.text(name); !text.empty()) return text;
  }
  return fields.text("layer").empty() ? "" : "layer " + fields.text("layer");
}

std::optional<std::int64_t> whole(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

Event event_of(const std::string& name, const Fields& fields) {
  Event event;
  event.name = name;
  event.severity = severity_of(fields.text("severity"));
  event.step = whole(fields.number("step"));
  event.scale = fields.number("scale");
  event.layers = fields.text("layers");
  event.text = told(fields);
  if (name == "run_start" || name == "run_end" || name == "resume") {
    event.config = config_of(fields);
  }
  return event;
}

// The layers' norms make the norm of all gradients where it is not given.
void add_up(Step& step) {
  if (step.norm || step.layers.empty()) return;
  double sum = 0;
  for (const auto& [name, norm] : step.layers) sum += norm * norm;
  step.norm = std::sqrt(sum);
}

bool names_settings(const Fields& fields) {
  for (const auto& [name, value] : fields.all()) {
    const std::string plain = plain_name(name.substr(name.rfind('/') + 1));
    if (plain == "seed" || plain == "growth_interval" || plain == "init_scale") return true;
  }
  return false;
}

}  // namespace

Found read_json_line(std::string_view line, Sink& sink) {
  line = trimmed(line);
  if (!line.starts_with('{') || line.starts_with("{'")) return {};
  Fields fields;
  std::size_t used = 0;
  if (!parse_object(line, fields, &used) || !trimmed(line.substr(used)).empty()) return {};
  const bool diary = fields.find("hash") != nullptr && fields.find("prev") != nullptr;
  if (const std::string name = fields.text("event"); !name.empty()) {
    const bool one_step = name == "step";
    if (!one_step) {
      Event event = event_of(name, fields);
      // The diary has no line a step; what it says of one is all there is.
      if (name == "nonfinite_loss" && event.step && fields.number("value")) {
        Step step;
        step.step = event.step;
        step.loss = fields.number("value");
        sink.step(std::move(step));
      }
      sink.event(std::move(event));
      return {true, diary ? Format::kOrmasDiary : Format::kGradlab};
    }
  }
  const bool own = fields.text("event") == "step";
  if (!own && take_trainer_record(fields, sink, false)) return {true, Format::kPythonDict};
  Step step;
  const bool known = fill_step(fields, step) > 0 || !step.layers.empty();
  if (!known && !own && names_settings(fields)) {
    sink.event(event_of("run_start", fields));
    return {true, Format::kJsonLines};
  }
  if (!known && !(own && step.step)) return {};
  const bool metrics = fields.number("step") && !own && !step.layers.empty();
  add_up(step);
  sink.step(std::move(step));
  return {true, own ? Format::kGradlab : metrics ? Format::kOrmasMetrics : Format::kJsonLines};
}

}  // namespace gradlab::training_log
