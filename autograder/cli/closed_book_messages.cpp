#include "cli/closed_book_messages.hpp"

#include <fmt/format.h>

namespace gradlab::cli::messages {

UsageError book_is_closed(const std::string& slug) {
  return UsageError(
      fmt::format("{0} is being written from memory, so nothing that helps is shown.\n"
                  "Its end: ./gradlab closed-book {0} --check, or --give-up",
                  slug));
}

UsageError book_is_open_already(const std::string& slug, const std::string& path) {
  return UsageError(fmt::format(
      "{0} is begun already: {1}.\nIts end: ./gradlab closed-book {0} --check, or --give-up", slug,
      path));
}

UsageError no_book_is_open(const std::string& slug) {
  return UsageError(
      fmt::format("{0} is not begun from memory. Begin with: ./gradlab closed-book {0}", slug));
}

UsageError book_without_lab() {
  return UsageError("--check and --give-up need a lab: ./gradlab closed-book clipping --check");
}

std::string book_begins(const std::string& slug, const std::string& path,
                        const std::string& contract, int minutes) {
  return fmt::format(
      "{1} is empty but for the functions to write; what each promises is in {2}.\n"
      "The clock runs: the lab is made for {3} min, and from memory it should take less.\n"
      "It is checked once, at the end: ./gradlab closed-book {0} --check\n",
      slug, path, contract, minutes);
}

std::string book_clock_went_back() {
  return "The clock of this machine went back meanwhile, so the time is not known.";
}

std::string book_result(const std::string& slug, int score, int max_score, double minutes,
                        int planned) {
  const auto time = minutes > 0 ? fmt::format("{:.0f} min of {}", minutes, planned)
                                : std::string("an unknown time");
  return fmt::format("{}, from memory: {} of {} in {}\n", slug, score, max_score, time);
}

std::string book_given_up(const std::string& slug, const std::string& path) {
  return fmt::format("{} is ended without a result. {} stays as it is.\n", slug, path);
}

}  // namespace gradlab::cli::messages
