// Everything that is written from the records of a class: grades.csv, junit.xml and report/, a set
// of static pages that need neither a server nor a network.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "record/record.hpp"

namespace gradlab::render {

struct ReportOptions {
  std::filesystem::path templates;  // autograder/render/templates
  std::filesystem::path chart_js;   // chart.min.js; "" for tables without plots
  std::vector<std::string> notes;   // what lay in the folder and is nobody's
  // On students' pages: what the hand-in printed and how long it took. A hand-in can put the cases
  // of a whole grading into both; records keep them in any case.
  bool show_output = false;
};

class RenderError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// chart.min.js as the package libjs-chart.js installs it; "" where it is not installed.
std::filesystem::path installed_chart_js();

// Writes out/grades.csv, out/junit.xml, out/report/index.html with what it needs,
// out/report/students/NAME.html. REQUIRES: the records are settled and of one lab. Throws
// RenderError when a template or chart_js is missing or broken, RecordError when a file cannot be
// written.
void write_report(const std::vector<Record>& records, const Manifest& manifest,
                  const std::filesystem::path& out, const ReportOptions& options);

}  // namespace gradlab::render
