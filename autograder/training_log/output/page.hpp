// A log as one HTML file that needs neither a server, a network nor other files.
#pragma once

#include <filesystem>
#include <string>

#include "training_log/report.hpp"

namespace gradlab::training_log {

struct PageAssets {
  std::filesystem::path templates;  // autograder/training_log/templates
  std::filesystem::path style;      // autograder/render/templates/style.css
  std::filesystem::path chart_js;   // chart.min.js; "" for tables without plots
};

// The page. Throws render::RenderError when a file of ours is missing or broken.
std::string log_page(const Report& report, const PageAssets& assets);

}  // namespace gradlab::training_log
