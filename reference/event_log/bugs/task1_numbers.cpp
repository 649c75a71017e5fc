// Known mistakes in the numbers of a line of JSON.
#include <sstream>

#include "lines.hpp"

namespace gradlab::event_log_bugs {
namespace {

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

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "bare_nan",
                   .belief = "JSON has numbers for inf and NaN",
                   .hint = "What does a strict parser say of your line: which numbers does RFC "
                           "8259 know?",
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
                   .hint = "How many digits of 16777216 does std::ostream write unless told "
                           "otherwise?",
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
};

}  // namespace
}  // namespace gradlab::event_log_bugs
