// A record from JSON, strictly: what is missing, unknown, out of range or does not add up is
// refused by name, because a damaged record must never pass for a grade.
#include <fmt/format.h>

#include <limits>

#include "record/errors.hpp"
#include "record/fields.hpp"
#include "record/json_reader.hpp"
#include "record/record.hpp"

namespace gradlab::record {
namespace {

constexpr int kMostPoints = 1'000'000;
constexpr int kDeepest = 64;

BehavesLike read_behaves_like(JsonReader& in) {
  BehavesLike bug{in.text("bug"), in.text("belief"), in.text("hint"), in.texts("also")};
  in.finish();
  return bug;
}

Check read_check(JsonReader& in) {
  Check check;
  check.name = in.text("name");
  check.title = in.text("title");
  check.guard = in.flag("guard");
  check.needs = in.text("needs");
  check.verdict = in.verdict("verdict");
  if (!is_check_verdict(check.verdict)) in.refuse("verdict", "a verdict of a check");
  check.max_points = static_cast<int>(in.whole("max_points", 1, kMostPoints));
  check.points = static_cast<int>(in.whole("points", 0, check.max_points));
  const int earned = check.verdict == Verdict::kPass ? check.max_points : 0;
  if (check.points != earned) {
    in.refuse("points", fmt::format("{} for the verdict {}", earned, to_string(check.verdict)));
  }
  check.message = in.text("message");
  if (auto failing = in.object_or_null("failing")) {
    check.failing = read_failing(*failing, Form::kStored);
  }
  if (auto bug = in.object_or_null("behaves_like")) check.behaves_like = read_behaves_like(*bug);
  check.reproduce = in.text("reproduce");
  check.closest = in.number_or_null("closest");
  check.seconds = in.seconds("seconds");
  in.finish();
  return check;
}

Task read_task(JsonReader& in) {
  Task task;
  std::vector<Verdict> verdicts;
  int points = 0, max_points = 0;
  for (JsonReader& object : in.objects("checks")) {
    task.checks.push_back(read_check(object));
    verdicts.push_back(task.checks.back().verdict);
    points += task.checks.back().points;
    max_points += task.checks.back().max_points;
  }
  task.id = static_cast<int>(in.whole("id", 1, 99));
  task.title = in.text("title");
  task.core = in.flag("core");
  task.verdict = in.verdict("verdict");
  if (task.verdict != combine(verdicts)) {
    in.refuse("verdict", fmt::format("{}, as its checks are", to_string(combine(verdicts))));
  }
  task.max_points = static_cast<int>(in.whole("max_points", max_points, max_points));
  task.points = static_cast<int>(in.whole("points", points, points));
  in.finish();
  return task;
}

Diagnostic read_diagnostic(JsonReader& in) {
  constexpr auto kMost = std::numeric_limits<int>::max();
  Diagnostic diagnostic;
  diagnostic.file = in.text("file");
  diagnostic.line = static_cast<int>(in.whole("line", 0, kMost));
  diagnostic.column = static_cast<int>(in.whole("column", 0, kMost));
  diagnostic.message = in.text("message");
  diagnostic.excerpt = in.texts("excerpt");
  diagnostic.hint = in.text("hint");
  in.finish();
  return diagnostic;
}

void read_meta(JsonReader& in, Record& record) {
  in.word("schema", {kSchema});
  record.lab = in.text("lab");
  record.title = in.text("title");
  record.student = in.text("student");
  record.attempt = static_cast<int>(in.whole("attempt", 1, std::numeric_limits<int>::max()));
  for (JsonReader& file : in.objects("files")) {
    record.files.push_back({file.text("name"), file.text("sha256")});
    const std::string& hash = record.files.back().sha256;
    if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
      file.refuse("sha256", "64 hex digits");
    }
    file.finish();
  }
  record.seed = in.text("seed");
  record.isolation = in.word("isolation", {"full", "container", "none"});
  record.message = in.text("message");
  record.notes = in.texts("notes");
  for (JsonReader& d : in.objects("diagnostics")) record.diagnostics.push_back(read_diagnostic(d));
  record.student_output = in.text("student_output");
  record.output_cut = in.flag("output_cut");
  JsonReader grader = in.object("grader");
  record.grader = {grader.text("version"), grader.text("checks_sha256"), grader.text("torch"),
                   grader.text("cpu_capability"), grader.text("compiler")};
  grader.finish();
  JsonReader timing = in.object("timing");
  record.timing = {timing.seconds("compile_s"), timing.seconds("run_s"), timing.seconds("total_s")};
  timing.finish();
}

void read_result(JsonReader& in, Record& record) {
  std::vector<Verdict> verdicts;
  int points = 0, max_points = 0;
  for (JsonReader& object : in.objects("tasks")) {
    record.tasks.push_back(read_task(object));
    verdicts.push_back(record.tasks.back().verdict);
    points += record.tasks.back().points;
    max_points += record.tasks.back().max_points;
  }
  record.verdict = in.verdict("verdict");
  const Verdict combined = combine(verdicts);
  if (record.verdict != combined) {
    // Only a hand-in that never came to its checks has a verdict of its own.
    const bool never_ran = combined == Verdict::kBlocked && points == 0;
    verdicts.push_back(record.verdict);
    if (!never_ran || combine(verdicts) != record.verdict) {
      in.refuse("verdict", fmt::format("{}, as its tasks are", to_string(combined)));
    }
    record.refusal = record.verdict;
  }
  record.max_score = static_cast<int>(in.whole("max_score", max_points, max_points));
  if (record.verdict == Verdict::kGraderError) {
    if (!in.any("score").is_null()) in.refuse("score", "null for the verdict grader_error");
  } else {
    record.score = static_cast<int>(in.whole("score", 0, max_points));
    if (*record.score != points)
      in.refuse("score", fmt::format("{}, the sum of its tasks", points));
  }
}

// nlohmann-json says which number is too big for a double, but not whose it is.
RecordError overflow(const std::string& text, const std::string& origin, const std::string& what) {
  const auto open = what.find('\''), close = what.rfind('\'');
  if (open == std::string::npos || close <= open) return errors::not_json(origin, what);
  const std::string number = what.substr(open + 1, close - open - 1);
  const auto key_end = text.rfind("\":", text.find(number));
  if (key_end == std::string::npos || key_end == 0) return errors::not_json(origin, what);
  const auto key = text.rfind('"', key_end - 1) + 1;
  return errors::damaged(origin, text.substr(key, key_end - key), "a number", number);
}

Record read(const nlohmann::json& json, const std::string& origin) {
  JsonReader in(json, origin, "");
  Record record;
  read_meta(in, record);
  read_result(in, record);
  in.finish();
  return record;
}

}  // namespace

Record from_json(const nlohmann::json& json) { return read(json, "the record"); }

Record parse(const std::string& text, const std::string& origin) {
  nlohmann::json json;
  try {
    // Deep nesting would overflow the stack when the record is written again.
    json = nlohmann::json::parse(text, [&](int depth, auto, auto&) {
      if (depth > kDeepest) throw errors::not_json(origin, "nested too deep");
      return true;
    });
  } catch (const nlohmann::json::out_of_range& error) {
    throw overflow(text, origin, error.what());
  } catch (const nlohmann::json::exception& error) {
    throw errors::not_json(origin, error.what());
  }
  return read(json, origin);
}

}  // namespace gradlab::record
