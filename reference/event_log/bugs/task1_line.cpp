// Known mistakes in the line of JSON around its numbers.
#include "lines.hpp"

namespace gradlab::event_log_bugs {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string flags_as_numbers(const Record& record) {
  return replaced(replaced(right_line(record), "true", "1"), "false", "0");
}

std::string everything_in_quotes(const Record& record) {
  return finite_by(record, [](double value) { return "\"" + exact(value) + "\""; });
}

std::string zero_for_no_scaler(const Record& record) {
  auto filled = record;
  filled.scale = record.scale.value_or(0);
  filled.scale_after = record.scale_after.value_or(0);
  return right_line(filled);
}

std::string none_for_no_scaler(const Record& record) {
  return replaced(right_line(record), "null", "none");
}

std::string several_lines(const Record& record) {
  return replaced(right_line(record), ",\"", ",\n  \"");
}

std::string no_newline(const Record& record) {
  auto line = right_line(record);
  line.pop_back();
  return line;
}

std::string comma_at_the_end(const Record& record) {
  return replaced(right_line(record), "}", ",}");
}

std::string no_event(const Record& record) {
  return replaced(right_line(record), R"("event":"step",)", "");
}

std::string names_of_another_trainer(const Record& record) {
  return replaced(replaced(right_line(record), "\"norm\"", "\"grad_norm\""), "\"lr\"",
                  "\"learning_rate\"");
}

std::string single_quotes(const Record& record) { return replaced(right_line(record), "\"", "'"); }

Checks every_line() {
  return {"a_line_holds_every_field", "numbers_read_back_the_same",
          "what_is_not_finite_is_a_string", "no_scaler_is_null", "one_record_is_one_line"};
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "flags_as_numbers",
                   .belief = "a bool is 0 or 1 in JSON",
                   .hint = "Which words has JSON for a bool, and what prints them?",
                   .caught_by = {"a_line_holds_every_field"}},
                  with_line(flags_as_numbers)),
    add_bug<Impl>({.name = "everything_in_quotes",
                   .belief = "if some numbers are strings, all are",
                   .hint = "Which numbers are strings by the contract?",
                   .caught_by = every_line() - "no_scaler_is_null" - "one_record_is_one_line"},
                  with_line(everything_in_quotes)),
    add_bug<Impl>({.name = "zero_for_no_scaler",
                   .belief = "no scaler is a scale of 0",
                   .hint = "How would a reader know it from a scale that collapsed?",
                   .caught_by = {"no_scaler_is_null"}},
                  with_line(zero_for_no_scaler)),
    add_bug<Impl>({.name = "none_for_no_scaler",
                   .belief = "what is not there is called none",
                   .hint = "Which word has JSON for it?",
                   .caught_by = {"what_is_not_finite_is_a_string", "no_scaler_is_null"}},
                  with_line(none_for_no_scaler)),
    add_bug<Impl>({.name = "several_lines",
                   .belief = "a record is easier to read on several lines",
                   .hint = "How does a reader that takes the file line by line know where a record "
                           "ends?",
                   .caught_by = {"one_record_is_one_line"}},
                  with_line(several_lines)),
    add_bug<Impl>({.name = "no_newline",
                   .belief = "the newline is the caller's",
                   .hint = "Two of your lines, one after another: how many lines is that?",
                   .caught_by = {"one_record_is_one_line"}},
                  with_line(no_newline)),
    add_bug<Impl>({.name = "comma_at_the_end",
                   .belief = "a comma ends every field, the last one too",
                   .hint = "Does JSON allow a comma before the closing brace?",
                   .caught_by = every_line()},
                  with_line(comma_at_the_end)),
    add_bug<Impl>({.name = "single_quotes",
                   .belief = "JSON takes either kind of quotes, as Python does",
                   .hint = "Which quotes does RFC 8259 know?",
                   .caught_by = every_line()},
                  with_line(single_quotes)),
    add_bug<Impl>({.name = "no_event",
                   .belief = "a line needs no word for what it is",
                   .hint = "Lines of events stand in the same file. How are they told apart?",
                   .caught_by = {"a_line_holds_every_field"}},
                  with_line(no_event)),
    add_bug<Impl>({.name = "names_of_another_trainer",
                   .belief = "the names of the keys are free",
                   .hint = "Which keys does the contract name?",
                   .caught_by = every_line() - "no_scaler_is_null" - "one_record_is_one_line"},
                  with_line(names_of_another_trainer)),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
