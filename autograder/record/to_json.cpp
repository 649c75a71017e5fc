// A record as JSON text, fields in the order of the schema.
#include <fmt/format.h>

#include "record/fields.hpp"
#include "record/record.hpp"

namespace gradlab::record {
namespace {

using Json = nlohmann::ordered_json;

Json check_to_json(const Check& check) {
  Json out;
  out["name"] = check.name;
  out["title"] = check.title;
  out["guard"] = check.guard;
  out["needs"] = check.needs;
  out["verdict"] = to_string(check.verdict);
  out["points"] = check.points;
  out["max_points"] = check.max_points;
  out["message"] = check.message;
  out["failing"] = check.failing ? failing_to_json(*check.failing) : Json();
  out["behaves_like"] = nullptr;
  if (check.behaves_like) {
    const BehavesLike& bug = *check.behaves_like;
    out["behaves_like"] = {
        {"bug", bug.bug}, {"belief", bug.belief}, {"hint", bug.hint}, {"also", bug.also}};
  }
  out["reproduce"] = check.reproduce;
  out["closest"] = check.closest ? number_to_json(*check.closest) : Json();
  out["seconds"] = check.seconds;
  return out;
}

Json task_to_json(const Task& task) {
  Json out;
  out["id"] = task.id;
  out["title"] = task.title;
  out["core"] = task.core;
  out["verdict"] = to_string(task.verdict);
  out["points"] = task.points;
  out["max_points"] = task.max_points;
  out["checks"] = Json::array();
  for (const Check& check : task.checks) out["checks"].push_back(check_to_json(check));
  return out;
}

Json diagnostic_to_json(const Diagnostic& diagnostic) {
  return {{"file", diagnostic.file},       {"line", diagnostic.line},
          {"column", diagnostic.column},   {"message", diagnostic.message},
          {"excerpt", diagnostic.excerpt}, {"hint", diagnostic.hint}};
}

}  // namespace

Json to_json(const Record& record) {
  Json out;
  out["schema"] = kSchema;
  out["lab"] = record.lab;
  out["title"] = record.title;
  out["student"] = record.student;
  out["attempt"] = record.attempt;
  out["files"] = Json::array();
  for (const File& file : record.files) {
    out["files"].push_back({{"name", file.name}, {"sha256", file.sha256}});
  }
  out["seed"] = record.seed;
  out["isolation"] = record.isolation;
  out["verdict"] = to_string(record.verdict);
  out["score"] = record.score ? Json(*record.score) : Json();
  out["max_score"] = record.max_score;
  out["message"] = record.message;
  out["notes"] = record.notes;
  out["tasks"] = Json::array();
  for (const Task& task : record.tasks) out["tasks"].push_back(task_to_json(task));
  out["diagnostics"] = Json::array();
  for (const Diagnostic& diagnostic : record.diagnostics) {
    out["diagnostics"].push_back(diagnostic_to_json(diagnostic));
  }
  out["student_output"] = record.student_output;
  out["output_cut"] = record.output_cut;
  out["grader"] = {{"version", record.grader.version},
                   {"checks_sha256", record.grader.checks_sha256},
                   {"torch", record.grader.torch},
                   {"cpu_capability", record.grader.cpu_capability},
                   {"compiler", record.grader.compiler}};
  out["timing"] = {{"compile_s", record.timing.compile_s},
                   {"run_s", record.timing.run_s},
                   {"total_s", record.timing.total_s}};
  return out;
}

std::string to_text(const Record& record) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  Json json = to_json(record);
  // A case can hold thousands of numbers: it stays on one line, so that the rest can be read. The
  // mark cannot stand in any other value, because a quote inside text is written as \".
  std::vector<std::string> cases;
  for (Json& task : json["tasks"]) {
    for (Json& check : task["checks"]) {
      if (check["failing"].is_null()) continue;
      Json& input = check["failing"]["case"];
      cases.push_back(input.dump(-1, ' ', false, kReplace));
      input = fmt::format("\x01{}", cases.size() - 1);
    }
  }
  std::string text = json.dump(2, ' ', false, kReplace) + "\n";
  std::size_t from = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string mark = fmt::format("\"case\": \"\\u0001{}\"", i);
    const auto at = text.find(mark, from);
    text.replace(at, mark.size(), "\"case\": " + cases[i]);
    from = at + cases[i].size();
  }
  return text;
}

}  // namespace gradlab::record
