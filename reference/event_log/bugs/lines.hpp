// What the mistakes in json_line are made of.
#pragma once

#include <fmt/format.h>

#include <string>

#include "common.hpp"

namespace gradlab::event_log_bugs {

// A right line but for how a number is written, and its keys.
template <typename Write>
std::string line_with(const Record& record, Write write) {
  const auto scale = [&](const std::optional<double>& value) {
    return value ? write(*value) : std::string("null");
  };
  return fmt::format(
      R"({{"event":"step","step":{},"loss":{},"scale":{},"scale_after":{},"norm":{},)"
      R"("clipped":{},"skipped":{},"lr":{}}})"
      "\n",
      record.step, write(record.loss), scale(record.scale), scale(record.scale_after),
      write(record.norm), record.clipped, record.skipped, write(record.lr));
}

inline std::string exact(double value) { return fmt::format("{:.17g}", value); }

// The same, with the right words for what is not finite.
template <typename Write>
std::string finite_by(const Record& record, Write write) {
  return line_with(record, [write](double value) {
    if (std::isnan(value)) return std::string("\"nan\"");
    if (std::isinf(value)) return std::string(value > 0 ? "\"inf\"" : "\"-inf\"");
    return write(value);
  });
}

}  // namespace gradlab::event_log_bugs
