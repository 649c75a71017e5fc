// Grades for a spreadsheet (RFC 4180, UTF-8): one row a student, also for one without a score.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.hpp"
#include "record/record.hpp"

namespace gradlab::render {

// student, score, max_score, verdict, LAB.TASK …, isolation, seed, note. A record without a score
// has empty cells for score and tasks: a blank is not a zero.
std::string grades_csv(const std::vector<Record>& records, const Manifest& manifest);

// Text as a cell that no spreadsheet takes for a formula: one that begins, after any ', with = + -
// @ tab or CR gets a ' in front. csv_restore undoes it, so that names survive the way there and
// back.
std::string csv_neutral(std::string_view text);
std::string csv_restore(std::string_view cell);

}  // namespace gradlab::render
