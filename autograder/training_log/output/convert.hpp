// A log of any format as gradlab's record or as a table.
#pragma once

#include <functional>
#include <string>

#include "training_log/step.hpp"

namespace gradlab::training_log {

enum class Target { kJsonl, kCsv };

// Writes lines as they come, each with its new line; strict JSON, numbers that are not finite as
// "inf", "-inf", "nan". A value that is not known is left out (CSV: an empty cell).
class Converter {
 public:
  Converter(Target target, std::function<void(const std::string&)> write);
  void step(const Step& step);
  void event(const Event& event);
  void finish();

 private:
  void begin();

  Target target_;
  std::function<void(const std::string&)> write_;
  bool begun_ = false, in_run_ = false;
  std::int64_t steps_ = 0, skipped_ = 0;
};

}  // namespace gradlab::training_log
