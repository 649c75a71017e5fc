// The record: it fails closed, adds up, and combines verdicts by the one rule.
#include "record/record.hpp"

#include <gmock/gmock.h>

#include "sample_lab.hpp"
#include "temp_folder.hpp"

namespace gradlab {
namespace {

using record::combine;
using testing::check_event;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::sample_lab;
using testing::unjudged;
using enum Verdict;

constexpr char kGuard[] = "small_norm_is_left_alone";
constexpr char kEarning[] = "large_norm_is_scaled_as_one_vector";

TEST(Verdicts, the_first_that_applies_wins) {
  const std::vector<Verdict> order = {kGraderError, kCompileError, kForbidden,  kTimeLimit,
                                      kMemoryLimit, kOutputLimit,  kForged,     kCrashed,
                                      kFail,        kBlocked,      kNotStarted, kPass};
  for (std::size_t worse = 0; worse < order.size(); ++worse) {
    EXPECT_EQ(combine({order[worse], order[worse]}), order[worse]);
    for (std::size_t better = worse + 1; better < order.size(); ++better) {
      const bool mixed = order[worse] == kNotStarted;  // with pass
      EXPECT_EQ(combine({order[better], order[worse]}), mixed ? kFail : order[worse]);
    }
  }
}

TEST(Verdicts, part_pass_and_part_not_started_is_fail) {
  EXPECT_EQ(combine({kPass, kNotStarted}), kFail);
  EXPECT_EQ(combine({kPass, kNotStarted, kBlocked}), kBlocked);
  EXPECT_EQ(combine({}), kGraderError);
}

TEST(Verdicts, words_go_there_and_back) {
  for (int i = 0; i <= static_cast<int>(kForbidden); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_EQ(record::verdict_from(record::to_string(verdict)), verdict);
  }
  EXPECT_FALSE(record::verdict_from("passed"));
}

TEST(NewRecord, fails_closed) {
  Record record = unjudged("ada");
  record::settle(record);
  EXPECT_EQ(record.max_score, 20);
  EXPECT_EQ(record.verdict, kGraderError);
  EXPECT_FALSE(record.score);
  EXPECT_EQ(record.check(kGuard)->verdict, kGraderError);
  EXPECT_EQ(record.check(kGuard)->message, "no verdict came");
}

TEST(NewRecord, a_lost_verdict_costs_the_score_not_points) {
  Record record = testing::right("ada");
  EXPECT_EQ(record.score, 20);
  record.check(kEarning)->came = kGraderError;
  record::settle(record);
  EXPECT_FALSE(record.score);
  EXPECT_EQ(record.verdict, kGraderError);
  EXPECT_EQ(record.tasks[0].verdict, kPass);
}

TEST(NewRecord, one_task_alone_leaves_the_others_out) {
  const Record record = record::new_record(sample_lab(), {.student = "ada",
                                                          .seed = "1",
                                                          .isolation = "none",
                                                          .public_seed = true,
                                                          .attempt = 1,
                                                          .only_task = 3});
  ASSERT_EQ(record.tasks.size(), 1u);
  EXPECT_EQ(record.max_score, 5);
}

TEST(Apply, only_pass_earns_points) {
  for (int i = 0; i <= static_cast<int>(kGraderError); ++i) {
    Record record = unjudged("ada");
    const auto verdict = static_cast<Verdict>(i);
    record::apply(record, check_event(kEarning, std::string(record::to_string(verdict))));
    record::settle(record);
    EXPECT_EQ(record.check(kEarning)->points, verdict == kPass ? 3 : 0);
    EXPECT_EQ(record.check(kEarning)->verdict, verdict);
  }
}

TEST(Apply, refuses_what_a_judge_cannot_say) {
  Record record = unjudged("ada");
  const auto says = [&](const nlohmann::json& event) {
    return message_of<RecordError>([&] { record::apply(record, event); });
  };
  EXPECT_THAT(says({{"event", "cheer"}}), HasSubstr("cheer"));
  EXPECT_THAT(says(nlohmann::json::array()), HasSubstr("an object"));
  EXPECT_THAT(says(check_event("extra", "pass")),
              HasSubstr("'extra', which is no check of clipping"));
  EXPECT_THAT(says(check_event(kEarning, "great")), HasSubstr("field 'verdict'"));
  EXPECT_THAT(says(check_event(kEarning, "compile_error")), HasSubstr("a verdict of a check"));
  auto event = check_event(kEarning, "pass");
  event["seconds"] = "nan";
  EXPECT_THAT(says(event), HasSubstr("field 'seconds'"));
  EXPECT_FALSE(record.check(kEarning)->came) << "a damaged event must not count";
  EXPECT_EQ(record.check(kEarning)->points, 0);
}

TEST(Apply, two_verdicts_that_differ_are_no_verdict) {
  Record record = testing::right("ada");
  record::apply(record, check_event(kEarning, "pass"));  // the same again is harmless
  EXPECT_THAT(
      message_of<RecordError>([&] { record::apply(record, check_event(kEarning, "fail")); }),
      HasSubstr("pass and then fail"));
  record::settle(record);
  EXPECT_EQ(record.check(kEarning)->verdict, kGraderError);
  EXPECT_FALSE(record.score);
}

TEST(Apply, failing_details_and_diagnosis_arrive) {
  const Record record = testing::scales_always("bruno");
  const record::Check& check = *record.check(kGuard);
  ASSERT_TRUE(check.failing);
  EXPECT_EQ(check.failing->got, "0.99999666");
  EXPECT_EQ(check.failing->off_by, 0.69999666);
  EXPECT_EQ(check.failing->differing->of, 1);
  EXPECT_EQ(check.failing->input["number"], 7);
  EXPECT_EQ(check.behaves_like->bug, "scales_always");
  EXPECT_EQ(record.student_output, "norm = 0.3\n");
  EXPECT_EQ(record.score, 9);
}

TEST(Apply, a_second_bug_is_named_beside_the_first) {
  Record record = testing::scales_always("bruno");
  record::apply(record, {{"event", "diagnosis"},
                         {"check", kGuard},
                         {"bug", "other"},
                         {"belief", "b"},
                         {"hint", "h"}});
  EXPECT_EQ(record.check(kGuard)->behaves_like->bug, "scales_always");
  EXPECT_THAT(record.check(kGuard)->behaves_like->also, ElementsAre("other"));
}

TEST(Apply, a_smaller_case_takes_the_place_of_the_first_and_changes_no_verdict) {
  Record record = testing::scales_always("bruno");
  nlohmann::json smaller = {{"event", "smaller"},
                            {"name", kGuard},
                            {"failing",
                             {{"case", {{"text", "one gradient [1], max_norm 2"}}},
                              {"place", "gradient of parameter 0"},
                              {"expected", "1"},
                              {"got", "2"}}}};
  record::apply(record, smaller);
  EXPECT_EQ(record.check(kGuard)->failing->got, "2");
  EXPECT_EQ(record.check(kGuard)->verdict, kFail);
  smaller["name"] = kEarning;  // it passed
  EXPECT_THAT(message_of<RecordError>([&] { record::apply(record, smaller); }),
              HasSubstr("a check that failed"));
  EXPECT_FALSE(record.check(kEarning)->failing);
}

TEST(Apply, a_dead_judge_leaves_its_status_where_no_verdict_came) {
  Record record = unjudged("ada");
  record::apply(record, check_event(kEarning, "pass"));
  record::apply(record, {{"event", "died"}, {"status", "signal 9"}});
  record::settle(record);
  EXPECT_THAT(record.check(kGuard)->message, HasSubstr("signal 9"));
  EXPECT_EQ(record.check(kEarning)->verdict, kPass);
  EXPECT_EQ(record.verdict, kGraderError);
  EXPECT_FALSE(record.score);
}

TEST(Settle, a_guard_waits_for_the_check_it_needs) {
  for (const char* earning : {"fail", "not_started", "crashed", "time_limit"}) {
    Record record = unjudged("ada");
    testing::judge_all(record, "pass");
    record.check(kEarning)->came.reset();
    record::apply(record, check_event(kEarning, earning));
    record::settle(record);
    EXPECT_EQ(record.check(kGuard)->verdict, kBlocked) << earning;
    EXPECT_EQ(record.check(kGuard)->points, 0);
    EXPECT_THAT(record.check(kGuard)->message, HasSubstr("large norm is scaled as one vector"));
    EXPECT_EQ(record.score, 14);
  }
}

TEST(Settle, a_guard_that_did_not_pass_keeps_its_verdict) {
  Record record = unjudged("ada");
  testing::judge_all(record, "fail");
  for (const char* guard : {"not_started", "fail", "crashed"}) {
    record.check(kGuard)->came.reset();
    record::apply(record, check_event(kGuard, guard));
    record::settle(record);
    EXPECT_EQ(record::to_string(record.check(kGuard)->verdict), guard);
  }
}

TEST(Settle, may_be_called_again_when_more_has_come) {
  Record record = unjudged("ada");
  record::apply(record, check_event(kGuard, "pass"));
  record::settle(record);
  EXPECT_EQ(record.check(kGuard)->verdict, kBlocked);
  record::apply(record, check_event(kEarning, "pass"));
  record::settle(record);
  EXPECT_EQ(record.check(kGuard)->verdict, kPass);
  EXPECT_EQ(record.tasks[1].points, 6);
}

TEST(Settle, says_how_to_see_a_failure_again) {
  Record record = unjudged("ada");
  testing::judge_all(record, "fail");
  record::settle(record);
  EXPECT_EQ(record.check(kEarning)->reproduce, "./gradlab debug clipping.2 --seed 8f3c");
  EXPECT_EQ(record.check(kGuard)->reproduce,
            "./gradlab debug clipping.2 --check small_norm_is_left_alone --seed 8f3c");
  record.public_seed = true;
  record::settle(record);
  EXPECT_EQ(record.check(kEarning)->reproduce, "./gradlab debug clipping.2");
  record.file = "it's/a file.cpp";
  record::settle(record);
  EXPECT_EQ(record.check(kEarning)->reproduce,
            "./gradlab debug clipping.2 --file 'it'\\''s/a file.cpp'");
  EXPECT_THAT(testing::right("ada").check(kEarning)->reproduce, IsEmpty());
}

TEST(Refuse, a_hand_in_that_never_ran_has_its_own_verdict) {
  const Record record = testing::does_not_compile("chioma");
  EXPECT_EQ(record.verdict, kCompileError);
  EXPECT_EQ(record.score, 0);
  EXPECT_EQ(record.check(kEarning)->verdict, kBlocked);
  EXPECT_EQ(record.diagnostics[0].line, 23);
}

TEST(Refuse, missing_is_not_started_and_a_grader_fault_has_no_score) {
  Record record = unjudged("ada");
  record::refuse(record, kNotStarted, "clipping.cpp is missing");
  record::settle(record);
  EXPECT_EQ(record.verdict, kNotStarted);
  EXPECT_EQ(record.score, 0);
  EXPECT_EQ(record.check(kGuard)->message, "clipping.cpp is missing");
  record::refuse(record, kGraderError, "unreadable");
  record::settle(record);
  EXPECT_FALSE(record.score);
}

TEST(Refuse, every_verdict_of_a_hand_in_survives_the_json) {
  for (const Verdict verdict : {kCompileError, kForbidden, kTimeLimit, kMemoryLimit, kOutputLimit,
                                kNotStarted, kGraderError}) {
    Record record = unjudged("ada");
    record::refuse(record, verdict, "why");
    record::settle(record);
    EXPECT_EQ(record.verdict, verdict);
    EXPECT_EQ(record::parse(record::to_text(record), "r").verdict, verdict);
  }
}

}  // namespace
}  // namespace gradlab
