// Known mistakes in the line of JSON.
#include <fmt/format.h>

#include <sstream>

#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

// A right line but for how a number is written, and its keys.
template <typename Write>
std::string line_with(const Record& record, Write write) {
  const auto scale = [&](const std::optional<double>& value) {
    return value ? write(*value) : std::string("null");
  };
  return fmt::format(
      R"({{"event":"step","step":{},"loss":{},"scale":{},"scale_after":{},"norm":{},)"
      R"("clipped":{},"skipped":{},"lr":{}}})"
      "\n",
      record.step, write(record.loss), scale(record.scale), scale(record.scale_after),
      write(record.norm), record.clipped, record.skipped, write(record.lr));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string exact(double value) { return fmt::format("{:.17g}", value); }

std::string bare(const Record& record) { return line_with(record, exact); }

std::string null_for_not_finite(const Record& record) {
  return line_with(record,
                   [](double value) { return std::isfinite(value) ? exact(value) : "null"; });
}

std::string zero_for_not_finite(const Record& record) {
  return line_with(record, [](double value) { return std::isfinite(value) ? exact(value) : "0"; });
}

// As std::ostream writes it, "-nan" too.
std::string streamed_in_quotes(const Record& record) {
  return line_with(record, [](double value) {
    return std::isfinite(value) ? exact(value) : fmt::format("\"{}\"", value);
  });
}

std::string inf_without_sign(const Record& record) {
  return line_with(record, [](double value) {
    if (std::isnan(value)) return std::string("\"nan\"");
    return std::isinf(value) ? std::string("\"inf\"") : exact(value);
  });
}

std::string only_nan_is_quoted(const Record& record) {
  return line_with(record, [](double value) {
    return std::isnan(value) ? std::string("\"nan\"") : exact(value);
  });
}

std::string pythons_words(const Record& record) {
  return line_with(record, [](double value) {
    if (std::isnan(value)) return std::string("\"NaN\"");
    if (std::isinf(value)) return std::string(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return exact(value);
  });
}

template <typename Write>
std::string finite_by(const Record& record, Write write) {
  return line_with(record, [write](double value) {
    if (std::isnan(value)) return std::string("\"nan\"");
    if (std::isinf(value)) return std::string(value > 0 ? "\"inf\"" : "\"-inf\"");
    return write(value);
  });
}

std::string six_digits(const Record& record) {
  return finite_by(record, [](double value) {
    std::ostringstream out;
    out << value;
    return out.str();
  });
}

std::string six_decimals(const Record& record) {
  return finite_by(record, [](double value) { return std::to_string(value); });
}

std::string as_floats(const Record& record) {
  return finite_by(record,
                   [](double value) { return fmt::format("{}", static_cast<float>(value)); });
}

std::string whole_scales(const Record& record) {
  auto whole = record;
  for (auto* scale : {&whole.scale, &whole.scale_after}) {
    if (*scale && std::isfinite(**scale)) *scale = std::trunc(**scale);
  }
  return right_line(whole);
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
    add_bug<Impl>({.name = "bare_nan",
                   .belief = "JSON has numbers for inf and NaN",
                   .hint = "Which numbers does RFC 8259 know? Read the line back with a strict "
                           "parser.",
                   .caught_by = {"what_is_not_finite_is_a_string"}},
                  with_line(bare)),
    add_bug<Impl>({.name = "only_nan_is_quoted",
                   .belief = "NaN is the only number that JSON has no word for",
                   .hint = "What does the norm of an overflow look like in your line?",
                   .caught_by = {"what_is_not_finite_is_a_string"}},
                  with_line(only_nan_is_quoted)),
    add_bug<Impl>({.name = "null_for_not_finite",
                   .belief = "null says that a number is not finite",
                   .hint = "How would a reader tell an overflow from a norm that was not measured?",
                   .caught_by = {"what_is_not_finite_is_a_string"}},
                  with_line(null_for_not_finite)),
    add_bug<Impl>({.name = "zero_for_not_finite",
                   .belief = "a number that cannot be written becomes 0",
                   .hint = "Norms of 2, 0 and 2: overflow, or a gradient that vanished?",
                   .caught_by = {"what_is_not_finite_is_a_string"}},
                  with_line(zero_for_not_finite)),
    add_bug<Impl>({.name = "streamed_in_quotes",
                   .belief = "what a stream prints of NaN is always nan",
                   .hint = "Print 0.0 / 0.0 on this machine. What has its sign to do with it?",
                   .caught_by = {"what_is_not_finite_is_a_string"}},
                  with_line(streamed_in_quotes)),
    add_bug<Impl>({.name = "inf_without_sign",
                   .belief = "there is one infinity",
                   .hint = "std::isinf is true of two numbers. Which?",
                   .caught_by = {"what_is_not_finite_is_a_string"}},
                  with_line(inf_without_sign)),
    add_bug<Impl>({.name = "pythons_words",
                   .belief = "the words are NaN and Infinity, as Python writes them",
                   .hint = "Which three strings does the contract name?",
                   .caught_by = {"what_is_not_finite_is_a_string"}},
                  with_line(pythons_words)),
    add_bug<Impl>({.name = "six_digits",
                   .belief = "a stream writes a double as it is",
                   .hint = "How many digits does std::ostream write unless told otherwise? Try a "
                           "scale of 16777216.",
                   .caught_by = {"numbers_read_back_the_same"}},
                  with_line(six_digits)),
    add_bug<Impl>({.name = "six_decimals",
                   .belief = "std::to_string writes a double as it is",
                   .hint = "What is std::to_string of a learning rate of 1e-7?",
                   .caught_by = {"numbers_read_back_the_same"}},
                  with_line(six_decimals)),
    add_bug<Impl>({.name = "as_floats",
                   .belief = "a training run has no more digits than float32",
                   .hint = "In which type is the learning rate kept?",
                   .caught_by = {"numbers_read_back_the_same"}},
                  with_line(as_floats)),
    add_bug<Impl>({.name = "whole_scales",
                   .belief = "a scale is a whole number",
                   .hint = "What is left of a scale of 0.5?",
                   .caught_by = {"numbers_read_back_the_same"}},
                  with_line(whole_scales)),
    add_bug<Impl>({.name = "flags_as_numbers",
                   .belief = "a bool is 0 or 1 in JSON",
                   .hint = "Which words has JSON for a bool? std::boolalpha prints them.",
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
