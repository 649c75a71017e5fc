#include "record/errors.hpp"

#include <fmt/format.h>

namespace gradlab::record::errors {

RecordError damaged(std::string_view origin, std::string_view field, std::string_view must,
                    std::string_view was) {
  return {RecordErrorKind::kDamaged,
          fmt::format("{}: field '{}': must be {}, was {}; the record is damaged, grade this "
                      "hand-in again",
                      origin, field, must, was)};
}

RecordError not_json(std::string_view origin, std::string_view what) {
  return {RecordErrorKind::kDamaged,
          fmt::format("{}: is not JSON ({}); the record is damaged, grade this hand-in again",
                      origin, what)};
}

RecordError unknown_event(std::string_view event) {
  return {RecordErrorKind::kUnknownEvent,
          fmt::format("the judge sent an event that the record does not know: {}; the judge and "
                      "the command are of two versions, build both again",
                      event)};
}

RecordError unknown_check(std::string_view check, std::string_view lab) {
  return {RecordErrorKind::kUnknownCheck,
          fmt::format("the judge sent a verdict of '{}', which is no check of {}; name it in "
                      "labs/{}/lab.toml or take it out of the checks",
                      check, lab, lab)};
}

RecordError two_verdicts(std::string_view check, Verdict first, Verdict second) {
  return {RecordErrorKind::kTwoVerdicts,
          fmt::format("the judge sent two verdicts of '{}', {} and then {}; no verdict stands, run "
                      "./gradlab doctor",
                      check, to_string(first), to_string(second))};
}

RecordError no_file(std::string_view path, std::string_view why) {
  return {RecordErrorKind::kNoFile,
          fmt::format("{}: cannot be read ({}); name a record that `grade` wrote", path, why)};
}

RecordError not_written(std::string_view path, std::string_view why) {
  return {RecordErrorKind::kWrite,
          fmt::format("{}: cannot be written ({}); an earlier file is kept as it was. Make room or "
                      "name another folder, then run the same command again",
                      path, why)};
}

std::string judge_died(std::string_view status) {
  return fmt::format("the judge ended before its verdict ({})", status);
}

std::string waits_for(std::string_view check_title) {
  return fmt::format("passes, and counts once '{}' passes", check_title);
}

std::string not_judged(Verdict hand_in) {
  switch (hand_in) {
    case Verdict::kCompileError:
      return "not run: the hand-in does not compile";
    case Verdict::kForbidden:
      return "not run: the hand-in uses what this lab forbids";
    default:
      return "not run: the hand-in did not get that far";
  }
}

}  // namespace gradlab::record::errors
