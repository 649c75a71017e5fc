// What the judge says, taken into the record one line at a time.
#include <fmt/format.h>

#include "record/errors.hpp"
#include "record/fields.hpp"
#include "record/json_reader.hpp"
#include "record/record.hpp"

namespace gradlab::record {
namespace {

constexpr char kOrigin[] = "the judge's event";

Check& known_check(Record& record, const std::string& name) {
  Check* check = record.check(name);
  if (check == nullptr) throw errors::unknown_check(name, record.lab);
  return *check;
}

void take_verdict(Check& check, Verdict verdict) {
  if (check.came && *check.came != verdict) {
    const Verdict first = *check.came;
    check.came = check.verdict = Verdict::kGraderError;
    check.points = 0;
    check.message = errors::two_verdicts(check.name, first, verdict).what();
    throw errors::two_verdicts(check.name, first, verdict);
  }
  check.came = check.verdict = verdict;
  check.points = verdict == Verdict::kPass ? check.max_points : 0;
}

void take_check(Record& record, const nlohmann::json& event) {
  JsonReader in(event, kOrigin, "");
  Check& check = known_check(record, in.text("name"));
  const Verdict verdict = in.verdict("verdict");
  if (!is_check_verdict(verdict)) in.refuse("verdict", "a verdict of a check");
  std::optional<Failing> failing;
  if (in.has("failing") && verdict != Verdict::kPass) {
    if (auto object = in.object_or_null("failing")) failing = read_failing(*object, Form::kEvent);
  }
  const auto closest = in.has("closest") ? in.number_or_null("closest") : std::nullopt;
  const double seconds = in.has("seconds") ? in.seconds("seconds") : 0;
  // Everything is read before anything is changed: a damaged event leaves the check without a
  // verdict.
  take_verdict(check, verdict);
  check.message = in.has("message") ? in.text("message") : "";
  check.failing = std::move(failing);
  check.closest = closest;
  check.seconds = seconds;
  if (in.has("output") && verdict != Verdict::kPass && record.student_output.empty()) {
    record.student_output = in.text("output");
  }
}

// A smaller case of a failure that was told already; it changes no verdict.
void take_smaller(Record& record, const nlohmann::json& event) {
  JsonReader in(event, kOrigin, "");
  Check& check = known_check(record, in.text("name"));
  if (check.came != Verdict::kFail) in.refuse("name", "a check that failed");
  auto object = in.object_or_null("failing");
  if (!object) in.refuse("failing", "an object");
  check.failing = read_failing(*object, Form::kEvent);
}

void take_diagnosis(Record& record, const nlohmann::json& event) {
  JsonReader in(event, kOrigin, "");
  Check& check = known_check(record, in.text("check"));
  const std::string bug = in.text("bug");
  if (check.behaves_like) {
    check.behaves_like->also.push_back(bug);
  } else {
    check.behaves_like = BehavesLike{bug, in.text("belief"), in.text("hint"), {}};
  }
}

void take_end(Record& record, const nlohmann::json& event) {
  JsonReader in(event, kOrigin, "");
  if (in.has("student_output") && !in.text("student_output").empty()) {
    record.student_output = in.text("student_output");
  }
  if (in.has("output_cut")) record.output_cut = in.flag("output_cut");
}

void take_death(Record& record, const nlohmann::json& event) {
  const auto found = event.find("status");
  const std::string status = found == event.end() ? "no status"
                             : found->is_string() ? found->get<std::string>()
                                                  : "status " + found->dump();
  for (Task& task : record.tasks) {
    for (Check& check : task.checks) {
      if (!check.came) check.message = errors::judge_died(status);
    }
  }
}

}  // namespace

void apply(Record& record, const nlohmann::json& event) {
  JsonReader in(event, kOrigin, "");
  const std::string kind = in.text("event");
  if (kind == "check") return take_check(record, event);
  if (kind == "smaller") return take_smaller(record, event);
  if (kind == "diagnosis") return take_diagnosis(record, event);
  if (kind == "end") return take_end(record, event);
  if (kind == "died") return take_death(record, event);
  if (kind != "verdicts_done") throw errors::unknown_event(kind);
}

}  // namespace gradlab::record
