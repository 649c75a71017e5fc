// What a student reads after `check`, in each state.
#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "render/check_text.hpp"
#include "render/terminal.hpp"
#include "sample_lab.hpp"

namespace gradlab {
namespace {

using render::CheckOptions;
using render::render_check;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::judged;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string checked(const Record& record, CheckOptions options = {}) {
  return render_check(record, options);
}

TEST(CheckText, a_right_answer_is_short) {
  EXPECT_EQ(checked(testing::right("ada")),
            R"(clipping   Gradient clipping by global norm                     20 of 20   0.9 s
  clipping.1  The norm of all gradients together   pass          4 of 4
  clipping.2  Clip in place                        pass          8 of 8
  clipping.3  Refuse what is not finite            pass          5 of 5
  clipping.4  Clip once warm-up is over            pass          3 of 3
)");
}

// The order is fixed: property, case, place with expected and got, how far against what is allowed,
// misconception as a question, how to see it again, where to read.
TEST(CheckText, a_failure_is_told_in_the_fixed_order) {
  Record record = testing::scales_always("bruno");
  record.public_seed = true;
  record::settle(record);
  CheckOptions options;
  options.file = "work/clipping.cpp";
  options.line = 31;
  EXPECT_EQ(checked(record, options),
            R"(clipping   Gradient clipping by global norm                      9 of 20   0.9 s
  clipping.1  The norm of all gradients together   pass          4 of 4
  clipping.2  Clip in place                        fail          5 of 8
      ok    large norm is scaled as one vector                   3
      ok    the norm before clipping is returned                 2
      FAIL  small norm is left alone                             0 of 3
            one gradient [0.3], max_norm 1
            at gradient of parameter 0: expected 0.3 (unchanged), got 0.99999666
            off by 7.0e-01, allowed 0
            behaves like: scales always (clipping brings the norm to the limit).
            What should happen when the norm is already below the limit?
            again: ./gradlab debug clipping.2
            read: handouts/clipping.md, task 2
  clipping.3  Refuse what is not finite            not started   0 of 5
  clipping.4  Clip once warm-up is over            not started   0 of 3
you printed (in that case):
  norm = 0.3
Go on with clipping.2: work/clipping.cpp:31    hint: ./gradlab hint clipping.2
)");
}

TEST(CheckText, a_seed_that_is_not_public_is_named) {
  const std::string text = checked(testing::scales_always("bruno"));
  EXPECT_THAT(text, HasSubstr("again: ./gradlab debug clipping.2 --seed 8f3c"));
}

TEST(CheckText, of_later_failures_what_differs) {
  Record record = judged("fail");
  record::Check& first = *record.check("large_norm_is_scaled_as_one_vector");
  record::Check& second = *record.check("norm_before_clipping_is_returned");
  first.failing = {{{"text", "gradients [3, 4]"}}, "norm", "5", "7", 2.0, 1e-4, {{1, 1}}};
  second.failing = {{{"text", "gradients [6, 8]"}}, "norm", "10", "14", 4.0, 1e-4, {{1, 1}}};
  const std::string text = checked(record);
  EXPECT_THAT(text, HasSubstr("gradients [3, 4]\n            at norm: expected 5, got 7\n"));
  EXPECT_THAT(text, HasSubstr("returned                 0 of 2\n            at norm: expected 10"));
  EXPECT_THAT(text, Not(HasSubstr("gradients [6, 8]")));
}

TEST(CheckText, a_blocked_guard_says_why_it_waits) {
  Record record = judged("pass");
  record.check("large_norm_is_scaled_as_one_vector")->came = Verdict::kFail;
  record::settle(record);
  EXPECT_THAT(checked(record), HasSubstr(R"(
      wait  small norm is left alone                             0 of 3
            passes, but so does an answer that does nothing: it counts once
            'large norm is scaled as one vector' passes
)"));
}

TEST(CheckText, a_crash_is_told_once) {
  Record record = judged("pass");
  for (const char* name : {"large_norm_is_scaled_as_one_vector", "small_norm_is_left_alone"}) {
    record.check(name)->came = Verdict::kCrashed;
    record.check(name)->message = "a bad memory access (SIGSEGV)";
  }
  record::settle(record);
  const std::string text = checked(record);
  EXPECT_THAT(text, HasSubstr("large norm is scaled as one vector     crashed       0 of 3\n"
                              "            a bad memory access (SIGSEGV)\n"
                              "            again: ./gradlab debug clipping.2"));
  EXPECT_THAT(text, HasSubstr("small norm is left alone               crashed       0 of 3\n"
                              "  clipping.3"));
}

TEST(CheckText, a_task_that_ends_the_same_way_everywhere_has_no_rows) {
  Record record = judged("time_limit", "2 s of CPU in one case");
  const std::string text = checked(record);
  EXPECT_THAT(text, HasSubstr("clipping.2  Clip in place                        time limit    0 of "
                              "8\n      2 s of CPU in one case\n"));
  EXPECT_THAT(text, Not(HasSubstr("small norm is left alone")));
}

TEST(CheckText, a_compile_error_has_the_students_own_line) {
  CheckOptions options;
  options.file = "work/clipping.cpp";
  EXPECT_EQ(checked(testing::does_not_compile("chioma"), options),
            R"(clipping   does not compile                                                0.9 s
  work/clipping.cpp:23:37: error: no member named 'size' in 'at::Tensor'
     23 |   for (int64_t i = 0; i < p.grad().size(); ++i) {
        |                           ~~~~~~~~ ^
  a tensor's element count is numel()
)");
}

TEST(CheckText, an_untouched_skeleton_says_where_to_start) {
  CheckOptions options;
  options.file = "work/clipping.cpp";
  options.line = 14;
  const std::string text = checked(testing::untouched("you"), options);
  EXPECT_THAT(text, StartsWith("clipping   Gradient clipping by global norm                      0 "
                               "of 20   0.9 s\n  clipping.1  The norm of all gradients together   "
                               "not started   0 of 4\n"));
  EXPECT_THAT(text, EndsWith("Start with clipping.1: work/clipping.cpp:14    hint: ./gradlab "
                             "hint clipping.1\n"));
}

TEST(CheckText, a_fault_of_the_grader_is_not_the_students) {
  Record record = testing::unjudged("ada");
  record::settle(record);
  const std::string text = checked(record);
  EXPECT_THAT(text, StartsWith("clipping   no score: grader error "));
  EXPECT_THAT(text, HasSubstr("This is a fault of the grader, not of your file."));
  EXPECT_THAT(text, Not(HasSubstr("FAIL")));
}

TEST(CheckText, of_stands_in_one_column) {
  Record record = judged("fail");
  record.tasks[1].max_points = 13;
  const std::regex points(" [0-9]+ of [0-9]+( |$)");
  int rows = 0;
  for (const std::string& line : lines_of(checked(record))) {
    if (!std::regex_search(line, points)) continue;
    EXPECT_EQ(line.find(" of ", 60), 66u) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 1 + 4 + 7);
}

TEST(CheckText, no_line_is_longer_than_the_terminal) {
  Record fails = testing::scales_always("bruno");
  fails.check("small_norm_is_left_alone")->failing->expected = std::string(300, '1');
  fails.notes = {"compiling took 18 s because it includes torch/torch.h, which is all of LibTorch"};
  fails.student_output = std::string(500, 'x');
  for (const int width : {60, 80, 120}) {
    for (const Record& record : {testing::right("a"), fails, testing::untouched("c"),
                                 testing::does_not_compile("d"), judged("crashed", "SIGSEGV")}) {
      CheckOptions options;
      options.width = width;
      for (const std::string& line : lines_of(checked(record, options))) {
        EXPECT_LE(render::width_of(line), width) << line;
      }
    }
  }
}

TEST(CheckText, what_a_student_wrote_cannot_act_on_the_terminal) {
  Record record = testing::scales_always("bruno");
  const std::string hostile = "\x1b[2J\x1b]0;title\x07\r\b\xE2\x80\xAE\xC2\x9B\xFF";
  record.student_output = hostile + "\nnext line";
  record.check("small_norm_is_left_alone")->failing->got = hostile;
  record.check("small_norm_is_left_alone")->message = hostile;
  record.notes = {"took " + hostile + " as clipping.cpp"};
  record.diagnostics = {{hostile, 1, 1, hostile, {hostile}, ""}};
  for (const bool diagnostics : {true, false}) {
    if (!diagnostics) record.diagnostics.clear();
    const std::string text = checked(record);
    EXPECT_THAT(lines_of(text), Each(::testing::ResultOf(
                                    [](const std::string& line) {
                                      return line.find_first_of("\x1b\x07\r\b") ==
                                             std::string::npos;
                                    },
                                    true)));
    EXPECT_THAT(text, HasSubstr("\\x1b[2J\\x1b]0;title\\x07\\r\\x08\\u202e\\x9b\xEF\xBF\xBD"));
  }
}

TEST(CheckText, colour_only_paints) {
  for (const Record& record : {testing::right("a"), testing::scales_always("b"),
                               testing::untouched("c"), judged("crashed", "SIGSEGV")}) {
    CheckOptions coloured;
    coloured.colour = true;
    const std::string text = checked(record, coloured);
    EXPECT_THAT(text, HasSubstr("\x1b["));
    EXPECT_EQ(std::regex_replace(text, std::regex("\x1b\\[[0-9]*m"), ""), checked(record));
  }
}

TEST(Diagnoses, come_after_the_verdicts_and_name_their_check) {
  Record record = testing::scales_always("bruno");
  CheckOptions options;
  EXPECT_EQ(render::render_diagnoses(record, options), R"(clipping.2 small norm is left alone
  behaves like: scales always (clipping brings the norm to the limit). What
  should happen when the norm is already below the limit?
hint: ./gradlab hint clipping.2
)");
  record.check("infinite_norm_throws")->behaves_like =
      record.check("small_norm_is_left_alone")->behaves_like;
  options.tips = false;
  EXPECT_THAT(render::render_diagnoses(record, options),
              StartsWith("clipping.2 small norm is left alone, and one more check\n"));
  EXPECT_EQ(render::render_diagnoses(testing::right("ada"), {}), "");
}

TEST(NextTask, is_the_first_that_does_not_pass) {
  EXPECT_EQ(render::next_task(testing::right("ada")), 0);
  EXPECT_EQ(render::next_task(testing::scales_always("bruno")), 2);
  EXPECT_EQ(render::next_task(testing::untouched("chioma")), 1);
}

TEST(Terminal, cuts_at_a_word_where_little_is_lost) {
  EXPECT_EQ(render::cut_at_word("clipping.2 hangs", 16), "clipping.2 hangs");
  EXPECT_EQ(render::cut_at_word("every gradient is clipped in place", 25), "every gradient is…");
  EXPECT_EQ(render::cut_at_word("floods the output (much)", 20), "floods the output…");
  EXPECT_EQ(render::cut_at_word("a verylongwordwithoutblanks", 12), "a verylongw…");
  EXPECT_EQ(render::width_of(render::cut_at_word("日本語 テキスト 日本語", 12)), 7);
}

TEST(Terminal, wraps_at_blanks_and_keeps_every_word) {
  EXPECT_THAT(render::wrapped("one two three", 8), ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(render::wrapped("abcdefghij", 4), ::testing::ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(render::wrapped("", 4), ::testing::ElementsAre(""));
}

}  // namespace
}  // namespace gradlab
