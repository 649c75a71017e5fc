// The wordings of the command's errors, in one place: what happened, then what to do.
#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace gradlab::cli::messages {

// Finding things.
UsageError no_root();
UsageError no_labs(const std::string& folder);
UsageError unknown_lab(const std::string& word, const std::vector<std::string>& labs);
UsageError two_labs(const std::string& word, const std::vector<std::string>& matches);
UsageError unknown_attack(const std::string& word, const std::string& nearest);
UsageError attacks_without_isolation();
UsageError not_a_task(const std::string& word, const std::string& example);
UsageError unknown_task(const std::string& slug, const std::string& number,
                        const std::vector<int>& tasks);
UsageError nothing_started(const std::string& first);
UsageError not_started(const std::string& slug);

// The command line.
UsageError unknown_verb(const std::string& word, const std::string& nearest);
UsageError unknown_action(const std::string& verb, const std::string& word,
                          const std::string& nearest, const std::vector<std::string>& actions);
UsageError unknown_option(const std::string& verb, const std::string& word,
                          const std::string& nearest);
UsageError bad_command_line(const std::string& verb, const std::string& what);
UsageError unknown_word(const std::string& text, const std::string& nearest);

// Files of the user.
UsageError already_started(const std::string& path, const std::string& slug);
UsageError all_started();
UsageError nothing_to_reset(const std::string& path, const std::string& slug);
UsageError not_copied(const std::string& path, const std::string& why);
UsageError bad_slug(const std::string& word);
UsageError slug_of_cpp(const std::string& slug, const std::string& what);
UsageError slug_taken(const std::string& slug, const std::string& path);
UsageError no_steps(const std::string& path);

// The grader itself.
GraderFault cannot_start(const std::string& program, const std::string& why);
GraderFault build_failed(const std::string& what, const std::string& output);
GraderFault not_written(const std::string& path, const std::string& why);
GraderFault low_limit(const std::string& what, const std::string& option, unsigned long is,
                      const std::string& needed);
GraderFault missing_part(const std::string& path, const std::string& verb);

// Lines on stderr.
std::string building(const std::string& what, bool first);
std::string looking_again();
std::string state_set_aside(const std::string& path, const std::string& kept);
std::string state_not_kept(const std::string& path);

}  // namespace gradlab::cli::messages
