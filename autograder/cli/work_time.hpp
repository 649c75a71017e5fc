// When a student worked on which lab, as far as the commands can tell: .gradlab/work_time.log, a
// line a command, "1764550000 clipping".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/workspace.hpp"

namespace gradlab::cli {

// Now. State is never worth failing for: where it cannot be written, nothing is.
void note_work(const Workspace& workspace, const std::string& slug);

// Minutes by lab. Between two commands on one lab all the time counts, up to a pause: what is
// longer counts as a pause's end only. Lines that are none are passed over; a clock that went back
// counts nothing.
std::map<std::string, double> minutes_worked(const Workspace& workspace);
std::map<std::string, double> minutes_in(std::string_view log);

}  // namespace gradlab::cli
