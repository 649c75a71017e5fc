// What an instructor reads while a class is graded, and below it.
#include "render/grade_text.hpp"

#include <gmock/gmock.h>

#include "render/class_summary.hpp"
#include "sample_lab.hpp"

namespace gradlab {
namespace {

using render::render_grade_summary;
using render::render_grade_table;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Record hangs(const std::string& student) {
  Record record = testing::scales_always(student);
  record::Check& check = *record.check("small_norm_is_left_alone");
  check.came = Verdict::kTimeLimit;
  check.message = "2 s of CPU in one case";
  check.behaves_like.reset();
  record::settle(record);
  return record;
}

Record grader_fault(const std::string& student) {
  Record record = testing::unjudged(student);
  record::refuse(record, Verdict::kGraderError, "the folder cannot be read");
  record::settle(record);
  return record;
}

std::vector<Record> small_class() {
  return {testing::right("ada"), testing::scales_always("bruno"),
          testing::does_not_compile("chioma"), hangs("dmitri"), testing::untouched("emre")};
}

TEST(GradeTable, has_a_row_a_student_and_fits_80_columns) {
  EXPECT_EQ(render_grade_table(small_class(), {}),
            R"(  student      score   1   2   3   4   what failed first
  ada        20 / 20   4   8   5   3
  bruno       9 / 20   4   5   -   -   small norm is left alone (scales always)
  chioma      0 / 20   -   -   -   -   does not compile: clipping.cpp:23
  dmitri      9 / 20   4   5   -   -   clipping.2 hangs (2 s of CPU)
  emre        0 / 20   -   -   -   -   not started
)");
  EXPECT_EQ(render_grade_table({}, {}), "");
}

TEST(GradeTable, cuts_a_title_before_its_misconception) {
  Record record = testing::scales_always("bruno");
  record.check("small_norm_is_left_alone")->title = "a small norm is left alone, whatever its type";
  EXPECT_THAT(render_grade_table({record}, {}),
              HasSubstr("  a small norm is left… (scales always)\n"));
}

TEST(GradeTable, a_name_cannot_act_or_push_the_columns) {
  const std::string table =
      render_grade_table({testing::right("\x1b[31mred\n" + std::string(99, 'x'))}, {});
  EXPECT_THAT(table, HasSubstr("\n  \\x1b[31mred\\nxx…    20 / 20   4   8   5   3\n"));
}

TEST(GradeSummary, counts_names_the_commonest_and_what_to_look_at) {
  EXPECT_EQ(render_grade_summary(small_class(), 23.4, {}),
            R"(5 graded in 23 s: 1 full marks, median 9, 1 not started, 1 does not compile, 1
  hangs, 0 grader errors
Most common: scales always (1)
Look before publishing: bruno and dmitri, clipping.1 norm is of all gradients:
  pass, within 10x of its tolerance
)");
}

TEST(GradeSummary, says_nothing_where_there_is_nothing) {
  EXPECT_EQ(render_grade_summary({testing::right("ada")}, 200, {}),
            "1 graded in 4 min: 1 full marks, median 20, 0 grader errors\n");
}

TEST(GradeSummary, a_hand_in_without_a_score_comes_first) {
  const std::string text =
      render_grade_summary({testing::scales_always("bruno"), grader_fault("farah")}, 1, {});
  EXPECT_THAT(text,
              HasSubstr("Look before publishing:\n  farah, no score: grader error: the folder "
                        "cannot be read\n  bruno, clipping.1"));
}

TEST(GradeSummary, many_in_one_doubt_are_counted) {
  std::vector<Record> records(9, testing::scales_always(""));
  for (std::size_t i = 0; i < records.size(); ++i) records[i].student = "s" + std::to_string(i);
  EXPECT_THAT(render_grade_summary(records, 1, {}),
              HasSubstr("Look before publishing: s0, s1, s2, s3 and 5 more, clipping.1"));
}

// A pass that uses a tenth of what is allowed, and a failure by less than ten times of it.
TEST(Doubt, lies_within_ten_times_of_a_tolerance) {
  const auto doubts = [](double ratio, Verdict verdict) {
    Record record = testing::right("ada");
    record::Check& check = *record.check("infinite_norm_throws");
    check.came = verdict;
    check.closest = ratio;
    if (verdict == Verdict::kFail) {
      check.failing = {{}, "norm", "1", "2", 1e-5 * ratio, 1e-5, {{1, 1}}};
      check.closest = 0.5;  // of another comparison, which passed
    }
    record::settle(record);
    return render::summarise({record}).to_look_at.size();
  };
  EXPECT_EQ(doubts(0.09, Verdict::kPass), 0u);
  EXPECT_EQ(doubts(0.11, Verdict::kPass), 1u);
  EXPECT_EQ(doubts(1, Verdict::kPass), 1u);
  EXPECT_EQ(doubts(1.1, Verdict::kFail), 1u);
  EXPECT_EQ(doubts(9.9, Verdict::kFail), 1u);
  EXPECT_EQ(doubts(11, Verdict::kFail), 0u);
  EXPECT_EQ(doubts(1.1, Verdict::kCrashed), 0u);
}

TEST(Summary, counts_a_student_once_a_misconception) {
  Record twice = testing::scales_always("bruno");
  twice.check("infinite_norm_throws")->behaves_like =
      twice.check("small_norm_is_left_alone")->behaves_like;
  const auto summary = render::summarise({twice, testing::scales_always("chioma")});
  ASSERT_EQ(summary.misconceptions.size(), 1u);
  EXPECT_EQ(summary.misconceptions[0].name, "scales always");
  EXPECT_THAT(summary.misconceptions[0].students, ElementsAre("bruno", "chioma"));
  EXPECT_EQ(summary.failed.at(0).failed, 2);
  EXPECT_EQ(summary.median, 9);
}

TEST(Summary, a_hand_in_without_a_score_is_no_zero) {
  const auto summary = render::summarise({testing::right("ada"), grader_fault("farah")});
  EXPECT_EQ(summary.graded, 2);
  EXPECT_EQ(summary.mean, 20);
  EXPECT_THAT(summary.failed, IsEmpty());
}

TEST(Progress, has_a_bar_on_a_terminal_and_a_plain_line_elsewhere) {
  render::Progress progress;
  progress.done = 20;
  progress.total = 31;
  progress.seconds = 14.6;
  progress.counts = {{Verdict::kPass, 10},
                     {Verdict::kFail, 7},
                     {Verdict::kTimeLimit, 2},
                     {Verdict::kCompileError, 1}};
  const std::string numbers =
      "20 of 31   82 a minute   8 s left   17 graded  2 time limit  1 compile error";
  EXPECT_EQ(render::render_progress(progress, false), numbers);
  EXPECT_EQ(render::render_progress(progress, true, 110),
            "[###################...........]  " + numbers);
  EXPECT_THAT(render::render_progress(progress, true, 80), Not(HasSubstr("[")));
  EXPECT_EQ(render::render_progress({}, false), "0 of 0   0 graded");
}

}  // namespace
}  // namespace gradlab
