#include "training_log/output/page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "render/page.hpp"
#include "render/plots.hpp"
#include "training_log/number.hpp"
#include "training_log/output/page_plots.hpp"
#include "training_log/output/text.hpp"

namespace gradlab::training_log {
namespace {

using render::Data;
using Json = nlohmann::ordered_json;

Data list(const std::vector<std::string>& items) {
  Data made(Data::type::list);
  for (const auto& item : items) made << render::text(item);
  return made;
}

Data finding_data(const Finding& finding) {
  const Diagnosis& about = diagnosis(finding.name);
  Data data;
  data.set("heading", render::text(about.title));
  data.set("severity", Data(word_of(finding.severity)));
  data.set("kind", Data(finding.severity == Severity::kCritical  ? "bad"
                        : finding.severity == Severity::kWarning ? "odd"
                                                                 : "wait"));
  data.set("about", render::text(fmt::format("{}, {}, confidence {}", finding.name,
                                             place_of(finding), word_of(finding.confidence))));
  data.set("meaning", render::text(about.meaning));
  data.set("evidence", list(finding.evidence));
  data.set("causes", render::list_or_none(finding.causes));
  data.set("change", list({about.change_first.begin(), about.change_first.end()}));
  return data;
}

Data story_data(const Story& story) {
  Data entries(Data::type::list);
  const auto put = [&](const std::string& step, const std::string& told) {
    Data data;
    data.set("at", Data(step));
    data.set("told", render::text(told));
    entries << data;
  };
  for (const Entry& entry : story.first()) put(counted(entry.step), entry.text);
  if (story.left_out() > 0) put("…", counted(story.left_out()) + " more of the kind");
  for (const Entry& entry : story.last()) put(counted(entry.step), entry.text);
  if (story.first().empty()) put("–", "No skip, no value that is not finite.");
  return entries;
}

Data run_data(const Report& report, std::size_t index, Json& plots) {
  const Run& run = *report.runs[index];
  Data data, sections(Data::type::list), findings(Data::type::list);
  const std::string number = std::to_string(index + 1);
  for (const PlotText& text : page_plots()) {
    if ((run.*text.series).empty() || (text.series == &Run::skip && !run.has_skips)) continue;
    const std::string id = fmt::format("{}-{}", text.id, number);
    Data section;
    section.set("id", Data(id));
    section.set("heading", Data(text.heading));
    section.set("says", render::text(plot_sentence(text, run)));
    sections << section;
    if (text.series != &Run::skip || run.skips > 0) plots[id] = plot_numbers(text, run);
  }
  for (const Finding& finding : run.findings) findings << finding_data(finding);
  data.set("number", Data(number));
  data.set("run_title", report.runs.size() == 1 ? Data(false)
                                                : Data(fmt::format("Run {}, steps {} to {}", number,
                                                                   run.first, run.last)));
  data.set("plots", sections);
  data.set("story", story_data(run.story));
  data.set("findings", findings);
  data.set("healthy", Data(run.findings.empty()));
  return data;
}

std::string lead_of(const Report& report) {
  std::int64_t lines = 0, skips = 0;
  for (const auto& run : report.runs) {
    lines += run->lines;
    skips += run->skips;
  }
  std::string formats;
  for (const Format format : report.formats) {
    formats += (formats.empty() ? "" : " with ") + std::string(name_of(format));
  }
  return fmt::format("{}, {}, {} skipped", formats.empty() ? "No known format" : formats,
                     plural(lines, "step line"), counted(skips));
}

}  // namespace

std::string log_page(const Report& report, const PageAssets& assets) {
  render::Template page(assets.templates, "log.html");
  const bool drawn = !assets.chart_js.empty();
  Json plots = Json::object();
  Data runs(Data::type::list);
  for (std::size_t i = 0; i < report.runs.size(); ++i) runs << run_data(report, i, plots);
  std::vector<std::string> notes = report.notes;
  if (report.not_understood > 0) {
    notes.push_back(fmt::format("{} lines were not understood and left out",
                                counted(static_cast<long long>(report.not_understood))));
    notes.insert(notes.end(), report.garbage.begin(), report.garbage.end());
  }
  const std::string name = std::filesystem::path(report.path).filename().string();
  Data data;
  data.set("title", render::text(name.empty() ? report.path : name));
  data.set("lead", render::text(lead_of(report)));
  data.set("style", Data(render::read_asset(assets.style)));
  data.set("log_style", Data(render::read_asset(assets.templates / "log.css")));
  data.set("notes", render::list_or_none(notes));
  data.set("runs", runs);
  data.set("chart", drawn ? Data("plot_data", Data(render::script_json(plots))) : Data(false));
  data.set("chart_js", drawn ? Data(render::read_asset(assets.chart_js)) : Data(""));
  data.set("log_js", Data(render::read_asset(assets.templates / "log.js")));
  return page.render(data);
}

}  // namespace gradlab::training_log
