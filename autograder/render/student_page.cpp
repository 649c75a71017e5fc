#include <fmt/format.h>

#include <set>

#include "render/isolation_text.hpp"
#include "render/pages.hpp"
#include "render/trace.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

Data rows_of(const record::Failing& failing) {
  Data rows(Data::type::list);
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    Data row;
    row.set("name", Data(name));
    row.set("value", lines(value));
    rows << row;
  };
  add("case", case_text(failing));
  add("place", failing.place);
  add("expected", failing.expected);
  add("got", failing.got);
  add("how far", how_far(failing));
  if (rows.is_empty_list()) return Data(false);
  return Data("rows", rows);
}

// What was called, beside what the answer calls.
Data calls_data(const record::Failing& failing) {
  const Trace trace = trace_of(failing);
  if (trace.rows.empty()) return Data(false);
  Data rows(Data::type::list);
  const auto add = [&](const std::string& got, const std::string& expected, bool same) {
    Data row;
    row.set("called", text(got));
    row.set("answer", text(expected));
    row.set("differs", Data(!same));
    rows << row;
  };
  if (trace.cut_before) add("...", "...", true);
  for (const TraceRow& row : trace.rows) add(row.got, row.expected, row.same());
  if (trace.cut_after) add("...", "...", true);
  return Data("calls_rows", rows);
}

// Of a misconception that stands with several checks the question is asked once.
Data belief_data(const record::Check& check, std::set<std::string>& asked) {
  if (!check.behaves_like) return Data(false);
  const record::BehavesLike& bug = *check.behaves_like;
  return text(asked.insert(bug.bug).second ? behaves_like(bug) : short_name(bug) + ", as above");
}

Data check_data(const Record& record, const record::Task& task, const record::Check& check,
                std::set<std::string>& asked) {
  Data data;
  data.set("kind", Data(kind_of(check.verdict)));
  data.set("verdict", Data(in_words(check.verdict)));
  data.set("check_title", text(check.title));
  data.set("points", Data(std::to_string(check.points)));
  data.set("max", Data(std::to_string(check.max_points)));
  // Of a failure that is shown row by row the message says nothing more.
  const bool above = !said_of_all(task).empty();
  const bool repeated = above || (check.verdict == Verdict::kFail && check.failing);
  data.set("told", Data(!above && check.verdict != Verdict::kPass &&
                        check.verdict != Verdict::kNotStarted));
  data.set("says", repeated ? Data(false) : text_or_none(explained(record, check)));
  data.set("failing", check.failing ? rows_of(*check.failing) : Data(false));
  data.set("calls", check.failing ? calls_data(*check.failing) : Data(false));
  data.set("belief", belief_data(check, asked));
  data.set("also",
           check.behaves_like ? text_or_none(names_of_also(*check.behaves_like)) : Data(false));
  data.set("again", above ? Data(false) : text_or_none(check.reproduce));
  return data;
}

Data of_all_data(const record::Task& task) {
  const std::string said = said_of_all(task);
  if (said.empty()) return Data(false);
  Data data;
  data.set("of_all", text(said));
  data.set("again", text_or_none(task.checks.front().reproduce));
  return data;
}

Data task_data(const Record& record, const record::Task& task, std::set<std::string>& asked) {
  Data data;
  // Where no check came to run, a list of them says nothing.
  data.set("judged", Data(!record.refusal));
  data.set("id", Data(std::to_string(task.id)));
  data.set("task_title", text(task.title));
  data.set("core", Data(task.core));
  data.set("kind", Data(kind_of(task.verdict)));
  data.set("verdict", Data(in_words(task.verdict)));
  data.set("points", Data(std::to_string(task.points)));
  data.set("max", Data(std::to_string(task.max_points)));
  const int percent = task.max_points > 0 ? 100 * task.points / task.max_points : 0;
  data.set("percent", Data(std::to_string(percent)));
  data.set("bar", Data(task.verdict == Verdict::kPass ? "good" : "part"));
  data.set("of_all", of_all_data(task));
  const bool passed = task.verdict == Verdict::kPass;
  data.set("read", passed ? Data(false) : text(read_at(record, task.id)));
  Data checks(Data::type::list);
  for (const record::Check& check : task.checks) checks << check_data(record, task, check, asked);
  data.set("checks", checks);
  return data;
}

Data diagnostics_data(const std::vector<record::Diagnostic>& diagnostics) {
  if (diagnostics.empty()) return Data(false);
  Data items(Data::type::list);
  for (const record::Diagnostic& diagnostic : diagnostics) {
    std::string place = diagnostic.file;
    if (diagnostic.line > 0) place += fmt::format(":{}:{}", diagnostic.line, diagnostic.column);
    std::string excerpt;
    for (const std::string& line : diagnostic.excerpt) excerpt += line + "\n";
    Data item;
    item.set("place", text(place));
    item.set("error", text(diagnostic.message));
    item.set("excerpt", excerpt.empty() ? Data(false) : lines(excerpt));
    item.set("hint", text_or_none(diagnostic.hint));
    items << item;
  }
  return Data("items", items);
}

Data output_data(const Record& record) {
  if (record.student_output.empty()) return Data(false);
  Data data;
  data.set("text", lines(record.student_output));
  data.set("cut", Data(record.output_cut));
  return data;
}

Data files_data(const std::vector<record::File>& files) {
  Data list(Data::type::list);
  for (const record::File& file : files) {
    Data data;
    data.set("name", text(file.name));
    data.set("sha256", text(file.sha256));
    list << data;
  }
  return list;
}

}  // namespace

Data student_page(const Record& record, bool show_output) {
  Data data;
  data.set("root", Data("../"));
  data.set("title", text(fmt::format("{}: {}", record.student, record.lab)));
  data.set("lab", text(record.lab));
  data.set("lab_title", text(record.title));
  data.set("student", text(record.student));
  data.set("score", record.score
                        ? Data(fmt::format("{} of {} points", *record.score, record.max_score))
                        : Data("no score"));
  data.set("kind", Data(kind_of(record.verdict)));
  data.set("verdict", Data(in_words(record.verdict)));
  // The compiler's own words say it better.
  const bool compiler = record.verdict == Verdict::kCompileError && !record.diagnostics.empty();
  data.set("message", compiler ? Data(false) : text_or_none(record.message));
  data.set("notes", list_or_none(record.notes));
  data.set("diagnostics", diagnostics_data(record.diagnostics));
  Data tasks(Data::type::list);
  std::set<std::string> asked;
  for (const record::Task& task : record.tasks) tasks << task_data(record, task, asked);
  data.set("tasks", tasks);
  data.set("output", show_output ? output_data(record) : Data(false));
  data.set("withheld", Data(!show_output && !record.student_output.empty()));
  data.set("files", files_data(record.files));
  data.set("seed", text(record.seed));
  data.set("isolation", text(record.isolation));
  data.set("not_promised", list_or_none(not_promised({record})));
  data.set("attempt", Data(std::to_string(record.attempt)));
  data.set("grader", text(grader_text(record.grader)));
  Data took;
  took.set("compile_s", Data(fmt::format("{:.1f}", record.timing.compile_s)));
  took.set("run_s", Data(fmt::format("{:.1f}", record.timing.run_s)));
  data.set("took", show_output ? took : Data(false));
  return data;
}

}  // namespace gradlab::render
