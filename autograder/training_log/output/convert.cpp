#include "training_log/output/convert.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(double value) {
  if (std::isfinite(value)) return value;
  return shown(value);
}

void put(Json& json, const char* name, const std::optional<double>& value) {
  if (value) json[name] = json_of(*value);
}

template <typename T>
void put_plain(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

std::optional<bool> skipped(const Step& step) {
  if (step.skipped) return step.skipped;
  return step.skips ? std::optional(*step.skips > 0) : std::nullopt;
}

Json record_of(const Step& step) {
  Json json = {{"event", "step"}, {"step", *step.step}};
  put(json, "loss", step.loss);
  put(json, "scale", step.scale);
  put(json, "scale_after", step.scale_after);
  put(json, "norm", step.norm);
  put_plain(json, "clipped", step.clipped);
  put_plain(json, "skipped", skipped(step));
  // A line that stands for several steps.
  if (step.skips && *step.skips > 1) json["skipped_iterations"] = *step.skips;
  put(json, "lr", step.lr);
  put(json, "max_norm", step.max_norm);
  put_plain(json, "growth_tracker", step.growth_tracker);
  put_plain(json, "micro_batches", step.micro_batches);
  put(json, "epoch", step.epoch);
  put(json, "batch", step.batch);
  put(json, "time", step.time);
  if (!step.layers.empty()) {
    for (const auto& [name, norm] : step.layers) json["layers"][name] = json_of(norm);
  }
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string cell(const std::optional<bool>& value) {
  return value ? (*value ? "true" : "false") : "";
}

std::string row_of(const Step& step) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", *step.step, cell(step.loss),
                     cell(step.scale), cell(step.scale_after), cell(step.norm), cell(step.clipped),
                     cell(skipped(step)), cell(step.lr), cell(step.max_norm), cell(step.epoch),
                     cell(step.batch));
}

// Settings back as what they were.
Json config_json(const Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config) {
    if (name == "event" || name == "format") continue;
    const auto number = number_of(value);
    if (value == "true" || value == "false") {
      json[name] = value == "true";
    } else {
      json[name] = number && std::isfinite(*number) ? Json(*number) : Json(value);
    }
  }
  return json;
}

}  // namespace

Converter::Converter(Target target, std::function<void(const std::string&)> write)
    : target_(target), write_(std::move(write)) {}

void Converter::begin() {
  if (begun_) return;
  begun_ = true;
  if (target_ == Target::kCsv) {
    write_("step,loss,scale,scale_after,norm,clipped,skipped,lr,max_norm,epoch,batch\n");
  } else if (!in_run_) {
    write_(dump({{"event", "run_start"}, {"format", "gradlab-log-1"}}));
  }
}

void Converter::step(const Step& step) {
  begin();
  ++steps_;
  skipped_ += step.skips ? *step.skips : step.skipped.value_or(false) ? 1 : 0;
  write_(target_ == Target::kCsv ? row_of(step) : dump(record_of(step)));
}

void Converter::event(const Event& event) {
  if (target_ == Target::kCsv || event.name == "run_end") return;
  if (event.name == "run_start") {
    Json json = {{"event", "run_start"}, {"format", "gradlab-log-1"}};
    json.update(config_json(event.config));
    in_run_ = begun_ = true;
    return write_(dump(json));
  }
  begin();
  Json json = {{"event", event.name}};
  if (event.severity) json["severity"] = word_of(*event.severity);
  if (event.step) json["step"] = *event.step;
  put(json, "scale", event.scale);
  if (!event.text.empty()) json["message"] = event.text;
  write_(dump(json));
}

void Converter::finish() {
  begin();
  if (target_ == Target::kCsv) return;
  write_(
      dump({{"event", "run_end"}, {"steps", steps_}, {"counts", {{"skipped_steps", skipped_}}}}));
}

}  // namespace gradlab::training_log
