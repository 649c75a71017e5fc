// The wordings of run and explain.
#pragma once

#include <cstddef>
#include <string>

#include "cli/app.hpp"

namespace gradlab::cli::messages {

// run.
UsageError log_is_there(const std::string& path);
UsageError no_run_of_lab(const std::string& slug);
std::string log_put_aside(const std::string& kept);
std::string no_run(const std::string& slug, const std::string& why);
std::string run_is_written(const std::string& path, std::size_t steps, const std::string& seed);

// explain.
UsageError no_log_yet(const std::string& path);
UsageError log_without_steps(const std::string& path);
UsageError log_without_skips(const std::string& path, std::size_t steps);
std::string explain_begins(const std::string& path, std::size_t rows);
std::string some_explained(const std::string& path, std::size_t explained, std::size_t of);
std::string all_explained(const std::string& path, std::size_t rows);

}  // namespace gradlab::cli::messages
