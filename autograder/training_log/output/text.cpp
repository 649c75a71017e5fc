#include "training_log/output/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "render/terminal.hpp"
#include "training_log/number.hpp"
#include "training_log/output/plot.hpp"

namespace gradlab::training_log {
namespace {

using render::Paint;
using render::printable;

constexpr const char* kNothing =
    "No step was understood. A line that is: {\"step\": 0, \"loss\": 2.3, \"norm\": 1.0, "
    "\"scale\": "
    "65536}\nAll formats: handouts/reading_logs.md";

void wrap(std::string& out, const std::string& text, int width, int indent, int hanging) {
  bool first = true;
  for (const auto& line : render::wrapped(printable(text), width - indent - hanging)) {
    out +=
        std::string(static_cast<std::size_t>(first ? indent : indent + hanging), ' ') + line + "\n";
    first = false;
  }
}

std::string painted(const Paint& paint, Severity severity) {
  const std::string word = word_of(severity);
  if (severity == Severity::kCritical) return paint.bad(word);
  return severity == Severity::kWarning ? paint.strong(word) : paint.dim(word);
}

std::string formats_text(const Report& report) {
  std::string text;
  for (const Format format : report.formats) {
    text += (text.empty() ? "" : " with ") + std::string(name_of(format));
  }
  return text;
}

std::string run_line(const Report& report, const Run& run) {
  const auto is_it = [&](const auto& each) { return each.get() == &run; };
  const auto number =
      1 + (std::find_if(report.runs.begin(), report.runs.end(), is_it) - report.runs.begin());
  std::string text = report.runs.size() > 1 ? fmt::format("run {}: ", number) : "";
  for (const auto& [name, value] : run.config) {
    if (name == "name") text += value + ", ";
  }
  text += fmt::format("{} {}, {}", run.first == run.last ? "step" : "steps",
                      steps_text(run.first, run.last), plural(run.lines, "line"));
  if (run.has_skips) text += fmt::format(", {} skipped", counted(run.skips));
  return text;
}

void add_plot(std::string& out, const char* name, const Series& series, const Run& run,
              const TextStyle& style, bool logarithmic) {
  if (series.empty()) return;
  const Paint paint(style.colour);
  std::int64_t bad = 0;
  const Bucket* last = nullptr;
  for (const Bucket& bucket : series.buckets()) {
    bad += bucket.nonfinite;
    if (bucket.finite > 0) last = &bucket;
  }
  std::string about = last == nullptr ? "" : fmt::format("  at the end {}", shown(last->newest));
  if (bad > 0) about += fmt::format(", {} not finite (x)", counted(bad));
  out += "\n" + paint.strong(name) + paint.dim(about) + "\n";
  PlotStyle plot_style;
  plot_style.width = style.width;
  plot_style.logarithmic = logarithmic;
  for (const auto& line : plot(series, run.first, run.last, plot_style)) out += line + "\n";
}

void add_story(std::string& out, const Story& story, const TextStyle& style) {
  const auto put = [&](const Entry& entry) { wrap(out, entry.text, style.width, 2, 2); };
  for (const Entry& entry : story.first()) put(entry);
  if (story.left_out() > 0) {
    out += fmt::format("  ... {} more of the kind ...\n", counted(story.left_out()));
  }
  for (const Entry& entry : story.last()) put(entry);
  if (story.first().empty()) out += "  Nothing: no skip, no value that is not finite.\n";
}

void add_finding(std::string& out, const Finding& finding, int number, const TextStyle& style) {
  const Paint paint(style.colour);
  const Diagnosis& about = diagnosis(finding.name);
  out += fmt::format("{:>3}. {}  {}\n     {}\n", number, painted(paint, finding.severity),
                     paint.strong(about.title),
                     paint.dim(fmt::format("{}, {}, confidence {}", finding.name, place_of(finding),
                                           word_of(finding.confidence))));
  wrap(out, about.meaning, style.width, 5, 0);
  for (const auto& line : finding.evidence) wrap(out, "seen: " + line, style.width, 5, 6);
  int rank = 1;
  for (const auto& cause : finding.causes) {
    wrap(out, fmt::format("cause {}: {}", rank++, cause), style.width, 5, 9);
  }
  bool first = true;
  for (const char* change : about.change_first) {
    wrap(out, std::string(first ? "first: " : "then:  ") + change, style.width, 5, 7);
    first = false;
  }
}

void add_run(std::string& out, const Report& report, const Run& run, const TextStyle& style) {
  const Paint paint(style.colour);
  out += "\n" + paint.strong("What happened") + "  " + paint.dim(printable(run_line(report, run))) +
         "\n";
  add_story(out, run.story, style);
  out += "\n" + paint.strong("What it points to") + "\n";
  int number = 0;
  for (const Finding& finding : run.findings) add_finding(out, finding, ++number, style);
  if (number == 0) out += "  Nothing that this log shows.\n";
}

}  // namespace

std::string place_of(const Finding& finding) {
  return fmt::format("{} {}", finding.first == finding.last ? "step" : "steps",
                     steps_text(finding.first, finding.last));
}

std::string headline(const Report& report, const TextStyle& style) {
  const Paint paint(style.colour);
  std::string out;
  const std::string formats = formats_text(report);
  wrap(out, fmt::format("{}: {}", report.path, formats.empty() ? "no known format" : formats),
       style.width, 0, 2);
  for (const auto& run : report.runs) wrap(out, run_line(report, *run), style.width, 2, 2);
  for (const auto& note : report.notes) wrap(out, "note: " + note, style.width, 2, 2);
  if (report.not_understood > 0) {
    wrap(out,
         fmt::format("{} of {} lines were not understood and left out, such as",
                     counted(static_cast<long long>(report.not_understood)),
                     counted(static_cast<long long>(report.lines))),
         style.width, 2, 2);
    for (const auto& line : report.garbage) {
      out += "    " + paint.dim(render::cut(printable(line), style.width - 4)) + "\n";
    }
  }
  if (report.runs.empty()) out += std::string(kNothing) + "\n";
  return out;
}

std::string show_text(const Report& report, const TextStyle& style) {
  std::string out = headline(report, style);
  for (const auto& run : report.runs) {
    const Paint paint(style.colour);
    if (report.runs.size() > 1)
      out += "\n" + paint.strong(printable(run_line(report, *run))) + "\n";
    add_plot(out, "loss", run->loss, *run, style, false);
    add_plot(out, "norm, before clipping", run->norm, *run, style, false);
    add_plot(out, "scale", run->scale, *run, style, true);
    out += "\n";
    if (run->has_skips) {
      out += skip_strip(run->skip, run->first, run->last, style.width) + "\n";
    }
    for (const auto& line : step_axis(run->first, run->last, style.width)) out += line + "\n";
  }
  const auto findings = report.all();
  if (!findings.empty()) {
    out += fmt::format("\n{}: ./gradlab log explain {}\n",
                       findings.size() == 1 ? "One thing to tell"
                                            : fmt::format("{} things to tell", findings.size()),
                       printable(report.path));
  }
  return out;
}

std::string explain_text(const Report& report, const TextStyle& style) {
  std::string out = headline(report, style);
  for (const auto& run : report.runs) add_run(out, report, *run, style);
  return out;
}

std::string check_text(const Report& report, const TextStyle& style) {
  const Paint paint(style.colour);
  std::string out = headline(report, style);
  for (const Finding& finding : report.all()) {
    out += fmt::format("{:<8}  {}  {}\n", word_of(finding.severity), paint.strong(finding.name),
                       place_of(finding));
    for (const auto& line : finding.evidence) wrap(out, line, style.width, 10, 2);
  }
  return out;
}

}  // namespace gradlab::training_log
