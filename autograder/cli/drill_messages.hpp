// The wordings of `drill`, in one place.
#pragma once

#include <string>

#include "cli/app.hpp"
#include "drills/schedule.hpp"

namespace gradlab::cli::messages {

UsageError drill_is_running();
UsageError one_thing_at_a_time();
UsageError nothing_to_ask(const std::string& topic);
UsageError bad_today(const std::string& word);
UsageError own_drills_taken(const std::string& path);
GraderFault progress_not_kept(const std::string& path, const std::string& why);

std::string progress_is_damaged(const std::string& path, const std::string& kept);
std::string progress_is_newer(const std::string& path, const std::string& kept);
std::string progress_not_readable(const std::string& path);  // --stats, which moves no file
std::string own_drills_left_out(const std::string& what);
std::string nothing_is_due(const std::string& next);

}  // namespace gradlab::cli::messages
