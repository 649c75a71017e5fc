// The one result of grading one hand-in; every report and export is a rendering of it. It fails
// closed: a new record holds every expected check at 0 points, and only a judge's event adds any.
// The JSON form is record.schema.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.hpp"
#include "record/verdict.hpp"

namespace gradlab::record {

inline constexpr char kSchema[] = "gradlab/record/1";

struct File {
  std::string name;
  std::string sha256;  // 64 hex digits, lower case
};

struct Differing {
  std::int64_t count = 0;
  std::int64_t of = 0;
};

// The first mismatch of a check and how far it is off. What does not apply stays empty.
struct Failing {
  nlohmann::json input;           // key `case`: the judge's own form, opaque here
  std::string place;              // "gradient of parameter 3, [1,3]"
  std::string expected;           // "0.3 (unchanged)"
  std::string got;                // "0.6"
  std::optional<double> off_by;   // may be inf or nan: the strings "inf", "-inf", "nan" in JSON
  std::optional<double> allowed;  // >= 0
  std::optional<Differing> differing;
};

struct BehavesLike {
  std::string bug;                // "scales_always"
  std::string belief;             // what the student believed
  std::string hint;               // a question
  std::vector<std::string> also;  // other bugs that reproduce the same observations
};

struct Check {
  std::string name;
  std::string title;
  bool guard = false;
  std::string needs;
  Verdict verdict = Verdict::kGraderError;
  int points = 0;
  int max_points = 0;
  std::string message;
  std::optional<Failing> failing;
  std::optional<BehavesLike> behaves_like;
  std::string reproduce;  // a command line; empty unless it failed
  std::optional<double>
      closest;  // off_by / allowed of the comparison that lay nearest to 1, either side
  double seconds = 0;

  std::optional<Verdict> came;  // what the judge said, before guards are settled; not in the JSON
};

struct Task {
  int id = 0;
  std::string title;
  bool core = false;
  Verdict verdict = Verdict::kGraderError;
  int points = 0;
  int max_points = 0;
  std::vector<Check> checks;
};

// A compiler's error with the student's own line numbers.
struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
  std::vector<std::string> excerpt;  // lines as the compiler shows them
  std::string hint;
};

struct Grader {
  std::string version;
  std::string checks_sha256;
  std::string torch;
  std::string cpu_capability;
  std::string compiler;
};

struct Timing {
  double compile_s = 0;
  double run_s = 0;
  double total_s = 0;
};

struct Record {
  std::string lab;
  std::string title;  // the lab's
  std::string student;
  int attempt = 1;
  std::vector<File> files;
  std::string seed;
  std::string isolation;  // "full", "container" or "none"
  Verdict verdict = Verdict::kGraderError;
  std::optional<int> score;  // empty when the verdict is grader_error: no score, never 0
  int max_score = 0;
  std::string message;  // of the hand-in as a whole: why it was refused, what the grader met
  std::vector<std::string> notes;  // "took clip.cpp as clipping.cpp"
  std::vector<Task> tasks;
  std::vector<Diagnostic> diagnostics;  // of compile_error and forbidden
  std::string student_output;
  bool output_cut = false;
  Grader grader;
  Timing timing;

  // Not in the JSON.
  bool public_seed = false;        // reproduce lines need not name the seed
  std::string file;                // named by reproduce lines unless empty
  std::optional<Verdict> refusal;  // why the judge was not asked

  Check* check(std::string_view name);  // null when there is none
  const Check* check(std::string_view name) const;
};

enum class RecordErrorKind {
  kDamaged,
  kUnknownEvent,
  kUnknownCheck,
  kTwoVerdicts,
  kNoFile,
  kWrite
};

class RecordError : public std::runtime_error {
 public:
  RecordError(RecordErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  RecordErrorKind kind() const { return kind_; }

 private:
  RecordErrorKind kind_;
};

struct Start {
  std::string student;
  std::string seed;
  std::string isolation;
  bool public_seed = false;  // `check`'s own seed: reproduce lines need not name it
  int attempt = 1;
  std::optional<int> only_task;  // `check --task N`: the others are left out of the record
  std::string file = {};         // `check --file`: reproduce lines name it; empty for work/
};

// Every expected check at 0 points: grader_error, "no verdict came".
Record new_record(const Manifest& manifest, const Start& start);

// Takes one line of the judge: check, diagnosis, verdicts_done, end or died. A check's event gives
// it its verdict, and its points when that is pass. Throws RecordError for an unknown event or
// check, a damaged value, or a second verdict that contradicts the first; that check is then
// grader_error.
void apply(Record& record, const nlohmann::json& event);

// Marks the whole hand-in: the judge was not asked. Checks become not_started or grader_error as
// the hand-in is, blocked for every other verdict; 0 points. Call settle() after it.
void refuse(Record& record, Verdict verdict, const std::string& message,
            std::vector<Diagnostic> diagnostics = {});

// A guard that passed while the check it needs did not is blocked, 0 points (a guard that failed
// stays so). Then sums points, combines verdicts and fills `reproduce`. A grader_error anywhere
// leaves the record without a score. May be called again after more events.
void settle(Record& record);

nlohmann::ordered_json to_json(const Record& record);
// Strict: a missing field, a wrong type, an unknown field, a score out of range or sums that do not
// agree are refused with the field and the value.
Record from_json(const nlohmann::json& json);
Record parse(const std::string& text, const std::string& origin);
std::string to_text(
    const Record& record);  // two-space JSON, new line at the end; invalid UTF-8 replaced

}  // namespace gradlab::record

namespace gradlab {
using record::Record;
using record::RecordError;
}  // namespace gradlab
