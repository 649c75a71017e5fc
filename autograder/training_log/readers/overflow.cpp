// The lines that say "overflow, step skipped" without a step's number. Found anywhere in a line,
// because a progress bar often stands before them.
#include <fmt/format.h>

#include "training_log/number.hpp"
#include "training_log/readers/readers.hpp"

namespace gradlab::training_log {
namespace {

std::optional<double> number_behind(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest;
  return leading_number(trimmed(line.substr(at + words.size())), rest);
}

Event overflow() {
  Event event;
  event.name = "overflow";
  event.severity = Severity::kInfo;
  return event;
}

bool deepspeed(std::string_view line, Sink& sink) {
  if (line.find("OVERFLOW!") == std::string_view::npos) return false;
  Event event = overflow();
  event.scale = number_behind(line, "ttempted loss scale:");
  event.scale_after = number_behind(line, "reducing to");
  if (!event.scale_after && line.find("hysteresis") != std::string_view::npos) {
    event.scale_after = event.scale;  // a skip without a change of the scale
  }
  if (const auto rank = number_behind(line, "Rank")) event.text = fmt::format("rank {}", *rank);
  sink.event(std::move(event));
  return true;
}

bool apex(std::string_view line, Sink& sink) {
  if (line.find("Gradient overflow.") == std::string_view::npos) return false;
  Event event = overflow();
  event.scale_after = number_behind(line, "reducing loss scale to");
  if (const auto id = number_behind(line, "loss scaler"))
    event.text = fmt::format("scaler {}", *id);
  sink.event(std::move(event));
  return true;
}

bool fairseq(std::string_view line, Sink& sink) {
  if (line.find("verflow detected") == std::string_view::npos) return false;
  const auto after = number_behind(line, "setting loss scale to:");
  if (!after) return false;
  Event event = overflow();
  event.scale_after = after;
  sink.event(std::move(event));
  return true;
}

Event at_minimum(std::string_view line) {
  Event event;
  event.name = "scale_at_minimum";
  event.severity = Severity::kCritical;
  event.text = std::string(line.substr(0, 200));
  return event;
}

}  // namespace

Found read_overflow(std::string_view line, Sink& sink) {
  // One look for what all of them have, before three.
  if (line.find("verflow") == std::string_view::npos &&
      line.find("OVERFLOW") == std::string_view::npos) {
    if (line.find("scale already at minimum") != std::string_view::npos) {
      sink.event(at_minimum(line));
      return {true, Format::kDeepSpeed};
    }
    if (line.find("Minimum loss scale reached") != std::string_view::npos) {
      sink.event(at_minimum(line));
      return {true, Format::kFairseq};
    }
    return {};
  }
  if (deepspeed(line, sink)) return {true, Format::kDeepSpeed};
  if (apex(line, sink)) return {true, Format::kApex};
  if (fairseq(line, sink)) return {true, Format::kFairseq};
  return {};
}

}  // namespace gradlab::training_log
