#include "render/report.hpp"

#include <fmt/format.h>

#include "record/store.hpp"
#include "render/csv.hpp"
#include "render/junit.hpp"
#include "render/page.hpp"
#include "render/pages.hpp"

namespace gradlab::render {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& bytes) {
  record::write_file(path, bytes, record::Sync::kNo);
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw RenderError(fmt::format("{}: cannot be made ({}); name another output folder",
                                  path.string(), error.message()));
  }
}

}  // namespace

fs::path installed_chart_js() {
  for (const char* path : {"/usr/share/javascript/chart.js/chart.min.js",
                           "/usr/share/javascript/chart.js/Chart.min.js",
                           "/usr/share/nodejs/chart.js/dist/chart.min.js"}) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

void write_report(const std::vector<Record>& records, const Manifest& manifest, const fs::path& out,
                  const ReportOptions& options) {
  // Everything is read before anything is written.
  Template index(options.templates, "index.html");
  Template student(options.templates, "student.html");
  const Data head(read_asset(options.templates / "head.html"));
  const std::string style = read_asset(options.templates / "style.css");
  const std::string script = read_asset(options.templates / "plots.js");
  const bool plots = !options.chart_js.empty();
  const std::string chart = plots ? read_asset(options.chart_js) : "";

  const fs::path report = out / "report";
  make_folder(report / "students");
  write(out / "grades.csv", grades_csv(records, manifest));
  write(out / "junit.xml", junit_xml(records));
  write(report / "style.css", style);
  if (plots) {
    write(report / "plots.js", script);
    write(report / "chart.min.js", chart);
  }
  for (const Record& record : records) {
    Data data = student_page(record, options.show_output);
    data.set("head", head);
    write(report / "students" / page_name(record.student), student.render(data));
  }
  Data data = index_page(records, manifest, options);
  data.set("head", head);
  write(report / "index.html", index.render(data));
}

}  // namespace gradlab::render
