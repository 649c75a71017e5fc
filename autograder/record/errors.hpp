// The wordings of the record, in one place: what happened, then what to do.
#pragma once

#include <string>
#include <string_view>

#include "record/record.hpp"

namespace gradlab::record::errors {

inline constexpr char kNoVerdict[] = "no verdict came";

// "ORIGIN: field 'FIELD': must be MUST, was WAS; grade this hand-in again"
RecordError damaged(std::string_view origin, std::string_view field, std::string_view must,
                    std::string_view was);
RecordError not_json(std::string_view origin, std::string_view what);
RecordError unknown_event(std::string_view event);
RecordError unknown_check(std::string_view check, std::string_view lab);
RecordError two_verdicts(std::string_view check, Verdict first, Verdict second);
RecordError no_file(std::string_view path, std::string_view why);
RecordError not_written(std::string_view path, std::string_view why);

std::string judge_died(std::string_view status);
std::string waits_for(std::string_view check_title);  // of a blocked guard
std::string not_judged(Verdict hand_in);              // of the checks of a refused hand-in

}  // namespace gradlab::record::errors
