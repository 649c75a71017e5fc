// What `log show`, `log explain` and `log check` say, for a terminal.
#pragma once

#include <string>

#include "training_log/report.hpp"

namespace gradlab::training_log {

struct TextStyle {
  int width = 80;
  bool colour = false;
};

// Which file it is, of which format, how long, and what was odd about it.
std::string headline(const Report& report, const TextStyle& style);

std::string show_text(const Report& report, const TextStyle& style);
std::string explain_text(const Report& report, const TextStyle& style);
std::string check_text(const Report& report, const TextStyle& style);  // a line a finding

// {"file":…,"formats":[…],"runs":[…],"findings":[…],"notes":[…]}, strict JSON.
std::string report_json(const Report& report);

// "step 412", "steps 412-415"
std::string place_of(const Finding& finding);

}  // namespace gradlab::training_log
