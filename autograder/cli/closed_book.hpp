// Labs written from memory: what is open, since when, and how earlier attempts ended.
// .gradlab/closed_book.json, read and written as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/workspace.hpp"

namespace gradlab::cli {

struct ClosedBookResult {
  std::string lab;
  std::int64_t started = 0;  // seconds since 1970
  double minutes = 0;        // from the start to the check; 0 where the clock went back
  int score = 0, max_score = 0;
  std::string sha256;  // of the file
};

class ClosedBook {
 public:
  // A file that cannot be read is put aside with a note, or with `look_only` left where it is.
  static ClosedBook read(const Workspace& workspace, bool look_only = false);
  // Throws GraderFault.
  void write(const Workspace& workspace) const;

  std::map<std::string, std::int64_t> open;  // lab: since when
  std::vector<ClosedBookResult> results;     // oldest first

  // The best of a lab's results; nullptr where there is none.
  const ClosedBookResult* best(const std::string& slug) const;
};

// work/closed-book/<slug>.cpp
std::filesystem::path closed_book_file(const Workspace& workspace, const std::string& slug);

// Throws UsageError while this lab is open: nothing that helps is shown then.
void refuse_help_while_closed(const Workspace& workspace, const std::string& slug);

}  // namespace gradlab::cli
