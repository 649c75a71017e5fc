#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "render/class_summary.hpp"
#include "render/pages.hpp"
#include "render/plots.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

Data cards(const ClassSummary& summary) {
  Data list(Data::type::list);
  const auto add = [&](const char* name, const std::string& value) {
    Data card;
    card.set("name", Data(name));
    card.set("value", Data(value));
    list << card;
  };
  const int stopped = summary.count(Verdict::kTimeLimit) + summary.count(Verdict::kMemoryLimit) +
                      summary.count(Verdict::kOutputLimit) + summary.count(Verdict::kCrashed) +
                      summary.count(Verdict::kForged);
  add("Graded", std::to_string(summary.graded));
  add("Full marks", std::to_string(summary.full_marks));
  add("Median", summary.median
                    ? fmt::format("{} of {}", number_text(*summary.median), summary.max_score)
                    : "none");
  add("Not started", std::to_string(summary.count(Verdict::kNotStarted)));
  add("Does not compile", std::to_string(summary.count(Verdict::kCompileError)));
  add("Forbidden", std::to_string(summary.count(Verdict::kForbidden)));
  add("Hangs or crashes", std::to_string(stopped));
  add("Grader errors", std::to_string(summary.count(Verdict::kGraderError)));
  return list;
}

Data look(const ClassSummary& summary) {
  if (summary.to_look_at.empty()) return Data(false);
  Data items(Data::type::list);
  for (const ToLookAt& doubtful : summary.to_look_at) {
    Data item;
    item.set("href", Data("students/" + page_link(doubtful.student)));
    item.set("student", text(doubtful.student));
    item.set("what", text(doubtful.what));
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
  data.set("lead", text(fmt::format("{} hand-ins: {}.", records.size(), summary_line(summary))));
  data.set("cards", cards(summary));
  data.set("look", look(summary));
  data.set("notes", list_or_none(options.notes));
  data.set("plots", plots.sections);
  data.set("plot_data", Data(script_json(plots.numbers)));
  data.set("tasks", tasks(manifest));
  data.set("students", students(records, manifest));
  data.set("seed", text(all_of(records, &Record::seed)));
  data.set("isolation", text(all_of(records, &Record::isolation)));
  data.set("grader", text(records.empty() ? "" : grader_text(records.front().grader)));
  return data;
}

}  // namespace gradlab::render
