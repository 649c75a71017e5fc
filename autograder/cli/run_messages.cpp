#include "cli/run_messages.hpp"

#include <fmt/format.h>

namespace gradlab::cli::messages {
namespace {

std::string places(std::size_t rows) {
  return rows == 1 ? "one place" : fmt::format("{} places", rows);
}

}  // namespace

UsageError log_is_there(const std::string& path) {
  return UsageError(fmt::format(
      "{} is there already, and is left as it is. Name another file with --out.", path));
}

UsageError no_run_of_lab(const std::string& slug) {
  return UsageError(
      fmt::format("{} has no training run. The one that has: ./gradlab run step_order", slug));
}

std::string log_put_aside(const std::string& kept) {
  return fmt::format("The log of the last run is kept as {}.", kept);
}

std::string no_run(const std::string& slug, const std::string& why) {
  return fmt::format("There is no log: {}.\nSee what is wrong with: ./gradlab check {}\n", why,
                     slug);
}

std::string run_is_written(const std::string& path, std::size_t steps, const std::string& seed) {
  return fmt::format(
      "{0}: {1} steps of your own loop, seed {2}.\n"
      "Read it (handouts/log_format.md says what each field is), then: ./gradlab explain {0}\n",
      path, steps, seed);
}

UsageError no_log_yet(const std::string& path) {
  return UsageError(
      fmt::format("there is no {}. Write it with: ./gradlab run step_order\n"
                  "A log of another trainer will do, too: ./gradlab explain FILE",
                  path));
}

UsageError log_without_steps(const std::string& path) {
  return UsageError(fmt::format(
      "{} holds no step of a training run. What a line has to hold: handouts/log_format.md", path));
}

UsageError log_without_skips(const std::string& path, std::size_t steps) {
  return UsageError(
      fmt::format("none of the {} steps in {} is told as skipped, so there is nothing to explain.\n"
                  "A run that overflows: ./gradlab run step_order",
                  steps, path));
}

std::string explain_begins(const std::string& path, std::size_t rows) {
  return fmt::format(
      "{}: skips in {} to explain. An empty line or ? gives a hint, s skips, q ends.\n", path,
      places(rows));
}

std::string some_explained(const std::string& path, std::size_t explained, std::size_t of) {
  return fmt::format(
      "{} of {} explained. A place counts once all its questions are answered.\n"
      "The others again: ./gradlab explain {}\n",
      explained, places(of), path);
}

std::string all_explained(const std::string& path, std::size_t rows) {
  return fmt::format("Every skip of {} is explained, in {}. ./gradlab status shows it.\n", path,
                     places(rows));
}

}  // namespace gradlab::cli::messages
