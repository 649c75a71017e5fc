// A compiler's text as data, from logs as clang 19, g++ 12, mold and ld write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/diagnostics.hpp"
#include "compile/hints.hpp"

namespace gradlab::compile {
namespace {

using ::testing::HasSubstr;

Diagnostic first_error(const std::string& log) {
  const Messages messages = parse_messages(log, "a.cpp");
  EXPECT_FALSE(messages.errors.empty()) << log;
  return messages.errors.empty() ? Diagnostic{} : messages.errors.front();
}

TEST(Messages, of_an_ordinary_error) {
  const Diagnostic error = first_error(
      "a.cpp:3:15: error: use of undeclared identifier 'z'\n"
      "    3 |   int y = 2 * z;\n"
      "      |               ^\n"
      "1 error generated.\n");
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.column, 15);
  EXPECT_EQ(error.message, "use of undeclared identifier 'z'");
  EXPECT_EQ(error.excerpt.size(), 2u);
}

TEST(Messages, in_a_precompiled_header_stand_where_the_hand_in_asked_for_the_template) {
  const Diagnostic error = first_error(
      "In file included from a.cpp:1:\n"
      "In file included from /usr/include/vector:60:\n"
      "/usr/include/bits/ops.h:45:23: error: invalid operands\n"
      "   45 |       { return *__it1 < *__it2; }\n"
      "/usr/include/bits/heap.h:232:8: note: in instantiation of function 'x' requested here\n"
      "a.cpp:5:6: note: in instantiation of function 'std::sort' requested here\n"
      "    5 | std::sort(all.begin(), all.end());\n"
      "      |      ^\n");
  EXPECT_EQ(error.file, "a.cpp");
  EXPECT_EQ(error.line, 5);
  EXPECT_EQ(error.column, 6);
  ASSERT_EQ(error.excerpt.size(), 2u);
  EXPECT_THAT(error.excerpt[0], HasSubstr("std::sort(all"));
}

TEST(Messages, in_a_header_of_ones_own_stand_at_its_include) {
  const Diagnostic error = first_error(
      "In file included from a.cpp:2:\n"
      "/usr/include/bad.h:9:1: error: no\n"
      "a.cpp:30:5: note: 'f' declared here\n");
  EXPECT_EQ(error.line, 2);
}

TEST(Messages, of_gcc_stand_where_the_template_was_required) {
  const Diagnostic error = first_error(
      "/usr/include/ops.h: In instantiation of 'f':\n"
      "a.cpp:5:12:   required from here\n"
      "/usr/include/ops.h:45:23: error: no match for 'operator<'\n"
      "   45 |       { return *__it1 < *__it2; }\n");
  EXPECT_EQ(error.file, "a.cpp");
  EXPECT_EQ(error.line, 5);
}

TEST(Messages, of_linkers) {
  const Diagnostic mold =
      first_error("mold: error: duplicate symbol: gradlab_fill_table: /out/a.o\n");
  EXPECT_EQ(mold.line, 0);
  EXPECT_THAT(mold.hint, HasSubstr("the grader's"));
  const Diagnostic ld = first_error(
      "/usr/bin/ld: /x/table.o: in function `gradlab_fill_table':\n"
      "table.cpp:(.text+0x0): multiple definition of `gradlab_fill_table'; /out/a.o: first here\n"
      "collect2: error: ld returned 1 exit status\n");
  EXPECT_EQ(ld.file, "table.cpp");
  EXPECT_THAT(ld.message, HasSubstr("multiple definition of `gradlab_fill_table'"));
  EXPECT_THAT(ld.hint, HasSubstr("the grader's"));
}

TEST(Messages, are_kept_to_five_and_lines_to_a_length) {
  std::string log;
  for (int i = 1; i < 100; ++i) {
    log += "a.cpp:" + std::to_string(i) + ":1: error: " + std::string(5000, 'x') + "\n";
    log += "a.cpp:" + std::to_string(i) + ":1: warning: w\n";
  }
  const Messages messages = parse_messages(log, "a.cpp");
  EXPECT_EQ(messages.errors.size(), kKept);
  EXPECT_EQ(messages.warnings.size(), kKept);
  EXPECT_LT(messages.errors[0].message.size(), 300u);
}

TEST(Messages, survive_what_a_hand_in_makes_of_them) {
  for (const std::string log :
       {"", "\n\n\n", ":", "::::: error: ", "a.cpp:99999999999999999999:1: error: x",
        "a.cpp:1:-3: error: y", "In file included from ", "In file included from :::,\n: error: z",
        " | | | |", "a.cpp:1: error: x: error: y: warning: z"}) {
    parse_messages(log, "a.cpp");
    parse_messages(log + log, "");
  }
}

TEST(Printable, is_utf8_without_control_bytes) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable("\x1b[31mred\x7f\r"), "?[31mred??");
  EXPECT_EQ(printable("é € 𝄞"), "é € 𝄞");
  EXPECT_EQ(printable("\xC3"), "?");                 // cut off
  EXPECT_EQ(printable("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "???");       // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????");  // beyond Unicode
  EXPECT_EQ(printable("\xC2\x9B"), "?");             // a control character of two bytes
}

}  // namespace
}  // namespace gradlab::compile
