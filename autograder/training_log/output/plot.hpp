// A series as characters, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "training_log/series.hpp"

namespace gradlab::training_log {

struct PlotStyle {
  int width = 80;  // cells, the labels included; at least 40
  int rows = 7;
  bool logarithmic = false;  // asked for; else chosen where values span a factor of 50
};

// Lines of at most `width` cells. "*" is the mean of a column's steps, ":" what they span, "x" in
// the top row a column with values that are not finite. ASCII alone.
std::vector<std::string> plot(const Series& series, std::int64_t first, std::int64_t last,
                              const PlotStyle& style);

// One line: how many steps each column skipped, "." for none, "#" for ten and more.
std::string skip_strip(const Series& skips, std::int64_t first, std::int64_t last, int width);

// The line of steps below plots: the first and the last.
std::vector<std::string> step_axis(std::int64_t first, std::int64_t last, int width);

}  // namespace gradlab::training_log
