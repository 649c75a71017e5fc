// Other programs, started without a shell.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace gradlab::cli {

struct Finished {
  int status = 0;      // exit status, or 128 + the signal
  std::string output;  // stdout and stderr as they came
};

struct Watch {
  std::chrono::milliseconds patience{1000};
  std::function<void()> after_patience;             // called once, when it still runs then
  std::function<void(const std::string&)> on_line;  // every whole line, as it comes
};

// Runs it to its end with stdin empty. Throws GraderFault when it cannot be started. argv[0] is
// looked for on PATH.
Finished run_captured(const std::vector<std::string>& argv, const std::string& directory,
                      const Watch& watch = {});

// Runs it on our own stdin, stdout and stderr; returns its exit status, or 128 + the signal.
int run_through(const std::vector<std::string>& argv, const std::string& directory);

}  // namespace gradlab::cli
