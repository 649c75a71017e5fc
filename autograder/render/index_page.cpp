#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "render/class_summary.hpp"
#include "render/isolation_text.hpp"
#include "render/pages.hpp"
#include "render/plots.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

// The strip under the title: how all hand-ins went, best first, in parts of 1000.
Data outcomes(const ClassSummary& summary) {
  struct Outcome {
    const char* kind;
    int count;
    const char* one;
    const char* many;
  };
  const int stopped = summary.count(Verdict::kTimeLimit) + summary.count(Verdict::kMemoryLimit) +
                      summary.count(Verdict::kOutputLimit) + summary.count(Verdict::kCrashed) +
                      summary.count(Verdict::kForged);
  const Outcome all[] = {
      {"good", summary.full_marks, "with full marks", "with full marks"},
      {"part", summary.count(Verdict::kFail) + summary.count(Verdict::kBlocked), "fails a check",
       "fail a check"},
      {"bad", stopped, "ends in a crash or at a limit", "end in a crash or at a limit"},
      {"odd", summary.count(Verdict::kCompileError), "does not compile", "do not compile"},
      {"ban", summary.count(Verdict::kForbidden), "uses what is forbidden",
       "use what is forbidden"},
      {"wait", summary.count(Verdict::kNotStarted), "not started", "not started"},
      {"fault", summary.count(Verdict::kGraderError), "without a score: grader error",
       "without a score: grader error"},
  };
  constexpr double kGap = 3;
  Data list(Data::type::list);
  double x = 0;
  for (const Outcome& outcome : all) {
    if (outcome.count == 0) continue;
    const double width = 1000.0 * outcome.count / summary.graded;
    Data data;
    data.set("kind", Data(outcome.kind));
    data.set("x", Data(fmt::format("{:.1f}", x)));
    data.set("width", Data(fmt::format("{:.1f}", std::max(width - kGap, 1.0))));
    data.set("count", Data(std::to_string(outcome.count)));
    data.set("words", Data(outcome.count == 1 ? outcome.one : outcome.many));
    list << data;
    x += width;
  }
  return list;
}

std::string lead(const ClassSummary& summary) {
  std::string text = fmt::format("{} hand-ins", summary.graded);
  if (summary.median) {
    text +=
        fmt::format(", median {} of {} points", number_text(*summary.median), summary.max_score);
  }
  return text;
}

Data look(const ClassSummary& summary) {
  if (summary.to_look_at.empty()) return Data(false);
  Data items(Data::type::list);
  for (const ToLookAt& doubt : summary.to_look_at) {
    Data item;
    item.set("what", text(doubt.what));
    item.set("links", links_to(doubt.students));
    items << item;
  }
  return Data("items", items);
}

// The points of one record, in the order of the lab's tasks; a task that was not judged shows a
// dash.
Data points(const Record& record, const Manifest& manifest) {
  Data list(Data::type::list);
  for (const manifest::Task& wanted : manifest.tasks) {
    std::string value = "–";
    for (const record::Task& task : record.tasks) {
      const bool judged = task.verdict != Verdict::kNotStarted && !record.refusal &&
                          task.verdict != Verdict::kGraderError;
      if (task.id == wanted.id && judged) value = std::to_string(task.points);
    }
    Data cell;
    cell.set("id", Data(std::to_string(wanted.id)));
    cell.set("value", Data(value));
    list << cell;
  }
  return list;
}

Data students(const std::vector<Record>& records, const Manifest& manifest) {
  Data list(Data::type::list);
  for (const Record& record : records) {
    Data row;
    row.set("href", Data("students/" + page_link(record.student)));
    row.set("student", text(record.student));
    row.set("score", Data(score_text(record)));
    row.set("kind", Data(kind_of(record.verdict)));
    row.set("verdict", Data(in_words(record.verdict)));
    row.set("first", text(what_failed_first(record)));
    row.set("points", points(record, manifest));
    list << row;
  }
  return list;
}

Data tasks(const Manifest& manifest) {
  Data list(Data::type::list);
  for (const manifest::Task& task : manifest.tasks) {
    Data data;
    data.set("id", Data(std::to_string(task.id)));
    data.set("task_title", text(task.title));
    data.set("max", Data(std::to_string(task.max_points())));
    list << data;
  }
  return list;
}

std::string all_of(const std::vector<Record>& records, std::string Record::* member) {
  std::set<std::string> values;
  for (const Record& record : records) values.insert(record.*member);
  return fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace

Data index_page(const std::vector<Record>& records, const Manifest& manifest,
                const ReportOptions& options) {
  const ClassSummary summary = summarise(records);
  const Plots plots = plots_of(summary, manifest.slug);
  Data data;
  data.set("root", Data(""));
  data.set("title", text(fmt::format("{}: {} hand-ins", manifest.slug, records.size())));
  data.set("lab", text(manifest.slug));
  data.set("lab_title", text(manifest.title));
  data.set("lead", Data(lead(summary)));
  data.set("outcomes", outcomes(summary));
  data.set("look", look(summary));
  data.set("notes", list_or_none(options.notes));
  data.set("plots", plots.sections);
  data.set("chart", options.chart_js.empty() ? Data(false)
                                             : Data("plot_data", Data(script_json(plots.numbers))));
  data.set("tasks", tasks(manifest));
  data.set("students", students(records, manifest));
  data.set("seed", text(all_of(records, &Record::seed)));
  data.set("isolation", text(all_of(records, &Record::isolation)));
  data.set("not_promised", list_or_none(not_promised(records)));
  // The first that ran: one that does not compile has not seen the processor.
  const auto ran = std::find_if(records.begin(), records.end(),
                                [](const Record& each) { return !each.refusal; });
  data.set("grader", text(ran == records.end() ? "" : grader_text(ran->grader)));
  return data;
}

}  // namespace gradlab::render
