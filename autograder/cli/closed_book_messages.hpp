// The wordings of closed-book.
#pragma once

#include <string>

#include "cli/app.hpp"

namespace gradlab::cli::messages {

UsageError book_is_closed(const std::string& slug);
UsageError book_is_open_already(const std::string& slug, const std::string& path);
UsageError no_book_is_open(const std::string& slug);
UsageError book_without_lab();
std::string book_begins(const std::string& slug, const std::string& path,
                        const std::string& contract, int minutes);
std::string book_clock_went_back();
std::string book_result(const std::string& slug, int score, int max_score, double minutes,
                        int planned);
std::string book_given_up(const std::string& slug, const std::string& path);

}  // namespace gradlab::cli::messages
