#include "cli/drill_messages.hpp"

#include <fmt/format.h>

namespace gradlab::cli::messages {

UsageError drill_is_running() {
  return UsageError(
      "another drill is running in this copy of gradlab, and keeps what you have done.\n"
      "Go on there, or end it with q and run this again.");
}

UsageError one_thing_at_a_time() {
  return UsageError(
      "--exam, --due, --stats, --export and --import are one thing each.\nAsk for one of them, "
      "then "
      "for the other.");
}

UsageError nothing_to_ask(const std::string& topic) {
  return UsageError(fmt::format(
      "there is no drill of {} that can be asked so.\nAll topics: ./gradlab drill --stats", topic));
}

UsageError bad_today(const std::string& word) {
  return UsageError(
      fmt::format("GRADLAB_TODAY is '{}', which is no date. Unset it; only tests need it.", word));
}

UsageError own_drills_taken(const std::string& path) {
  return UsageError(
      fmt::format("{} is where imported drills are kept, so it is imported already.\n"
                  "Edit a copy elsewhere and import that.",
                  path));
}

GraderFault progress_not_kept(const std::string& path, const std::string& why) {
  return GraderFault(fmt::format(
      "{} could not be written: {}.\nThe answers before this one are kept. Make room, or give "
      "yourself the right to write there.",
      path, why));
}

std::string progress_is_damaged(const std::string& path, const std::string& kept) {
  return fmt::format("{} is damaged. It is kept as {}, and a new one begun.", path, kept);
}

std::string progress_is_newer(const std::string& path, const std::string& kept) {
  return fmt::format(
      "{0} was written by a newer gradlab. It is kept as {1}, and a new one begun.\n"
      "To go on with the old one, fetch the newer gradlab and rename it back.",
      path, kept);
}

std::string progress_not_readable(const std::string& path) {
  return fmt::format(
      "{} is damaged or of a newer gradlab. The next drill keeps it aside and begins a new one.",
      path);
}

std::string own_drills_left_out(const std::string& what) {
  return fmt::format("left out: {}", what);
}

std::string nothing_is_due(const std::string& next) {
  return fmt::format("Nothing is due today{}. Any time: ./gradlab drill\n",
                     next.empty() ? "" : "; " + next);
}

}  // namespace gradlab::cli::messages
