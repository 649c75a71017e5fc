// The plots of a log's page: the numbers that log.js draws, and the sentence that says the same.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "training_log/report.hpp"

namespace gradlab::training_log {

struct PlotText {
  const char* id;
  const char* heading;
  const char* colour;  // a variable of style.css
  Series Run::* series;
  bool logarithmic;
};

std::span<const PlotText> page_plots();

nlohmann::ordered_json plot_numbers(const PlotText& text, const Run& run);
std::string plot_sentence(const PlotText& text, const Run& run);

}  // namespace gradlab::training_log
