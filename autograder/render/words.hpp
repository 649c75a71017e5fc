// Wordings that text, HTML, CSV and JUnit share, so that every rendering says the same.
#pragma once

#include <optional>
#include <string>

#include "record/record.hpp"

namespace gradlab::render {

std::string in_words(Verdict verdict);    // "not started"
std::string of_hand_in(Verdict verdict);  // "does not compile", "hangs", "no score: grader error"
std::string score_text(const Record& record);  // "17 / 20", "- / 20" without a score

// What is a sentence for a person about why a check is not passed: a blocked guard says what it
// waits for and why.
std::string explained(const Record& record, const record::Check& check);

// What a task's checks have in common where it ended in the same way for all of them (a crash while
// the file was loaded, say), so that a row each would say nothing more; "" otherwise.
std::string said_of_all(const record::Task& task);

// "expected 0.3 (unchanged), got 0.99999666"; "" when neither is known.
std::string expected_and_got(const record::Failing& failing);
// "off by 7.0e-01, allowed 0; 2 of 3 differ"; "" when none of it is known.
std::string how_far(const record::Failing& failing);
// What the judge says of the inputs: "one gradient [0.3], max_norm 1"; "" when it says nothing.
std::string case_text(const record::Failing& failing);
// "scales always": the bug's name with blanks, for a table.
std::string short_name(const record::BehavesLike& bug);
// The names of the bugs that look the same: "clips each tensor, scales always".
std::string names_of_also(const record::BehavesLike& bug);
// What it is to believe so, and the question: "the coefficient is at least 1. To make …?"
std::string behaves_like(const record::BehavesLike& bug);
std::string read_at(const Record& record, int task);  // "handouts/clipping.md#2"

bool is_failed(Verdict verdict);  // neither pass, not_started nor blocked

struct First {
  const record::Task* task = nullptr;
  const record::Check* check = nullptr;
};
// The first check that failed, in the order of tasks.
std::optional<First> first_failed(const Record& record);
// One phrase for a table: "small norm is left alone (scales always)", "clipping.2 hangs (2 s of
// CPU)", "does not compile: clipping.cpp:23".
std::string what_failed_first(const Record& record);

// Whether a verdict lies within 10 times of its tolerance, on either side: it passed with more than
// a tenth of what is allowed, or what failed it is off by less than ten times that.
bool is_near_tolerance(const record::Check& check);

}  // namespace gradlab::render
