#include "render/junit.hpp"

#include <fmt/format.h>

#include "record/store.hpp"
#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

constexpr int kMostMessage = 200;
constexpr std::size_t kMostBody = 4000;

// Escaped for XML; printable() has made visible what XML 1.0 cannot carry.
std::string escaped(std::string_view text, Lines lines = Lines::kOne) {
  std::string result;
  for (const char c : printable(text, lines)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

struct Case {
  std::string name;
  std::string child;  // "failure", "error", "skipped" or ""
  std::string type;
  std::string message;
  std::string body;
  double seconds = 0;
};

std::string child_of(Verdict verdict) {
  if (verdict == Verdict::kPass) return "";
  if (verdict == Verdict::kGraderError) return "error";
  return is_failed(verdict) ? "failure" : "skipped";
}

Case of_check(const Record& record, const record::Task& task, const record::Check& check) {
  Case result{fmt::format("{}.{} {}", record.lab, task.id, check.name),
              child_of(check.verdict),
              std::string(record::to_string(check.verdict)),
              explained(record, check),
              "",
              check.seconds};
  if (check.failing) {
    const record::Failing& failing = *check.failing;
    result.message = fmt::format("{}{}{}", failing.place, failing.place.empty() ? "" : ": ",
                                 expected_and_got(failing));
    for (const std::string& line : {case_text(failing), how_far(failing)}) {
      if (!line.empty()) result.body += line + "\n";
    }
  }
  if (check.behaves_like)
    result.body += "behaves like: " + behaves_like(*check.behaves_like) + "\n";
  if (!check.reproduce.empty()) result.body += "again: " + check.reproduce + "\n";
  if (result.message.empty()) result.message = in_words(check.verdict);
  return result;
}

Case of_hand_in_case(const Record& record) {
  Case result{"hand-in",
              child_of(record.verdict),
              std::string(record::to_string(record.verdict)),
              record.message.empty() ? of_hand_in(record.verdict) : record.message,
              "",
              0};
  for (const record::Diagnostic& diagnostic : record.diagnostics) {
    result.body += fmt::format("{}:{}:{}: error: {}\n", diagnostic.file, diagnostic.line,
                               diagnostic.column, diagnostic.message);
  }
  return result;
}

std::string xml_of(const Case& test, const std::string& classname) {
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                                escaped(classname), escaped(test.name), test.seconds);
  if (test.child.empty()) return xml + "/>\n";
  const std::string message = escaped(cut(printable(test.message), kMostMessage));
  xml += fmt::format(">\n      <{} message=\"{}\"", test.child, message);
  if (test.child != "skipped") xml += fmt::format(" type=\"{}\"", test.type);
  std::string body = test.body.substr(0, kMostBody);
  if (body.size() < test.body.size()) body += "\n(cut)";
  xml += body.empty() || test.child == "skipped"
             ? "/>\n"
             : fmt::format(">{}</{}>\n", escaped(body, Lines::kMany), test.child);
  return xml + "    </testcase>\n";
}

std::string suite_of(const Record& record) {
  std::vector<Case> cases;
  if (record.refusal) cases.push_back(of_hand_in_case(record));
  for (const record::Task& task : record.tasks) {
    for (const record::Check& check : task.checks) cases.push_back(of_check(record, task, check));
  }
  int failures = 0, errors = 0, skipped = 0;
  std::string xml;
  // A file stem: unique for each student, and no dots or blanks that a reader would split at.
  const std::string classname = fmt::format("{}.{}", record.lab, record::file_stem(record.student));
  for (const Case& test : cases) {
    failures += test.child == "failure";
    errors += test.child == "error";
    skipped += test.child == "skipped";
    xml += xml_of(test, classname);
  }
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n{}  </testsuite>\n",
      escaped(record.student), cases.size(), failures, errors, skipped, record.timing.total_s, xml);
}

}  // namespace

std::string junit_xml(const std::vector<Record>& records) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gradlab\">\n";
  for (const Record& record : records) xml += suite_of(record);
  return xml + "</testsuites>\n";
}

}  // namespace gradlab::render
