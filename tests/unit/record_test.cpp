// The record: it fails closed, adds up, combines verdicts by the one rule, and refuses what is
// damaged.
#include "record/record.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <limits>

#include "record/sha256.hpp"
#include "record/store.hpp"
#include "record/utf8.hpp"
#include "sample_lab.hpp"
#include "temp_folder.hpp"

namespace gradlab {
namespace {

using record::combine;
using ::testing::AllOf;
using testing::check_event;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::sample_lab;
using testing::TempFolder;
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

class Damaged : public ::testing::Test {
 protected:
  nlohmann::json good_ = record::to_json(testing::scales_always("bruno"));

  std::string refusal() {
    return message_of<RecordError>([&] { record::parse(good_.dump(), "records/bruno.json"); });
  }
  nlohmann::json& at(const char* pointer) { return good_[nlohmann::json::json_pointer(pointer)]; }
};

TEST_F(Damaged, a_good_record_is_read_back_the_same) {
  const Record record = record::from_json(good_);
  EXPECT_EQ(nlohmann::json(record::to_json(record)), good_);
  // Indented, with CRLF, with a byte order mark: the same record.
  std::string text = good_.dump(4);
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2)
    text.replace(i, 1, "\r\n");
  EXPECT_EQ(nlohmann::json(record::to_json(record::parse("\xEF\xBB\xBF" + text, "r"))), good_);
}

TEST_F(Damaged, an_impossible_score_names_field_and_value) {
  for (const auto& [bad, shown] : std::vector<std::pair<nlohmann::json, std::string>>{
           {true, "true"},
           {"ten", "\"ten\""},
           {-1, "-1"},
           {21, "21"},
           {nullptr, "null"},
           {8.5, "8.5"},
           {"nan", "\"nan\""},
           {18446744073709551615u, "18446744073709551615"}}) {
    good_["score"] = bad;
    EXPECT_THAT(
        refusal(),
        AllOf(HasSubstr("records/bruno.json: field 'score': must be a whole number from 0 to 20"),
              HasSubstr("was " + shown)));
  }
  good_["score"] = 10;
  EXPECT_THAT(refusal(), HasSubstr("must be 9, the sum of its tasks, was 10"));
  good_.erase("score");
  EXPECT_THAT(refusal(), HasSubstr("field 'score': must be there, was missing"));
}

TEST_F(Damaged, numbers_that_json_has_not_are_refused) {
  const std::string text = good_.dump();
  const auto score = [&](const std::string& value) {
    std::string bad = text;
    bad.replace(bad.find("\"score\":9"), 9, "\"score\":" + value);
    return message_of<RecordError>([&] { record::parse(bad, "r"); });
  };
  EXPECT_THAT(score("1e400"), HasSubstr("r: field 'score': must be a number, was 1e400"));
  EXPECT_THAT(score("NaN"), HasSubstr("r: is not JSON"));
  EXPECT_THAT(score("Infinity"), HasSubstr("is not JSON"));
}

TEST_F(Damaged, a_torn_file_is_refused) {
  const std::string text = good_.dump();
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 1}) {
    EXPECT_THROW(record::parse(text.substr(0, length), "r"), RecordError) << length;
  }
  EXPECT_THROW(record::parse(std::string(100000, '['), "r"), RecordError);
  EXPECT_THROW(record::parse("[]", "r"), RecordError);
}

TEST_F(Damaged, points_must_fit_the_verdicts) {
  at("/tasks/1/checks/2/points") = 3;
  EXPECT_THAT(
      refusal(),
      HasSubstr("field 'tasks[1].checks[2].points': must be 0 for the verdict fail, was 3"));
}

TEST_F(Damaged, verdicts_must_combine) {
  at("/tasks/1/verdict") = "pass";
  EXPECT_THAT(refusal(), HasSubstr("field 'tasks[1].verdict': must be fail, as its checks are"));
}

TEST_F(Damaged, a_verdict_of_the_hand_in_must_be_its_tasks) {
  for (const char* verdict : {"pass", "compile_error", "time_limit", "passed"}) {
    good_["verdict"] = verdict;
    EXPECT_THAT(refusal(), HasSubstr("field 'verdict'")) << verdict;
  }
}

TEST_F(Damaged, a_grader_error_has_no_score) {
  good_ = record::to_json([] {
    Record record = unjudged("ada");
    record::settle(record);
    return record;
  }());
  EXPECT_NO_THROW(record::from_json(good_));
  good_["score"] = 0;
  EXPECT_THAT(refusal(),
              HasSubstr("field 'score': must be null for the verdict grader_error, was 0"));
}

TEST_F(Damaged, each_field_is_needed_and_none_is_unknown) {
  for (const char* place : {"", "/grader", "/timing", "/files/0", "/tasks/1", "/tasks/1/checks/2",
                            "/tasks/1/checks/2/failing", "/tasks/1/checks/2/failing/differing",
                            "/tasks/1/checks/2/behaves_like"}) {
    const nlohmann::json before = good_;
    const nlohmann::json object = place[0] ? at(place) : good_;
    const auto put = [&](const nlohmann::json& value) {
      place[0] ? at(place) = value : good_ = value;
    };
    for (const auto& [key, value] : object.items()) {
      nlohmann::json less = object;
      less.erase(key);
      put(less);
      EXPECT_THAT(refusal(), AllOf(HasSubstr(key), HasSubstr("missing"))) << place;
      good_ = before;
    }
    nlohmann::json more = object;
    more["surplus"] = 1;
    put(more);
    EXPECT_THAT(refusal(), HasSubstr("surplus")) << place;
    good_ = before;
  }
}

TEST_F(Damaged, small_things_are_seen_too) {
  const nlohmann::json before = good_;
  for (const auto& [pointer, value] : std::vector<std::pair<const char*, nlohmann::json>>{
           {"/schema", "gradlab/record/2"},
           {"/isolation", "some"},
           {"/attempt", 0},
           {"/max_score", 10},
           {"/files/0/sha256", "zz"},
           {"/notes", {1}},
           {"/timing/run_s", -1},
           {"/timing/run_s", "inf"},
           {"/tasks/1/points", 6},
           {"/tasks/1/max_points", 9},
           {"/tasks/1/checks/2/failing/allowed", -1},
           {"/tasks/1/checks/2/failing/off_by", "much"},
           {"/tasks/1/checks/2/failing/differing/count", 2},
           {"/tasks/1/checks/2/verdict", "forbidden"},
           {"/tasks", nlohmann::json::array()}}) {
    at(pointer) = value;
    EXPECT_THAT(refusal(), HasSubstr("records/bruno.json: field '")) << pointer;
    good_ = before;
  }
}

TEST(Json, numbers_that_are_not_finite_are_strings) {
  Record record = testing::scales_always("bruno");
  auto& failing = *record.check(kGuard)->failing;
  for (const auto& [value, word] : std::vector<std::pair<double, std::string>>{
           {std::numeric_limits<double>::infinity(), "inf"},
           {-std::numeric_limits<double>::infinity(), "-inf"},
           {std::numeric_limits<double>::quiet_NaN(), "nan"}}) {
    failing.off_by = value;
    const auto json = nlohmann::json::parse(record::to_text(record));
    EXPECT_EQ(json["tasks"][1]["checks"][2]["failing"]["off_by"], word);
    const Record back = record::from_json(json);
    const double off_by = *back.check(kGuard)->failing->off_by;
    EXPECT_TRUE(value != value ? off_by != off_by : off_by == value);
  }
}

TEST(Json, bytes_that_are_no_utf8_are_replaced) {
  Record record = testing::scales_always("br\xFFuno");
  record.student_output = "\xC3(\x01 \"case\": \"\\u00010\"";
  const Record back = record::parse(record::to_text(record), "r");
  EXPECT_EQ(back.student, "br\xEF\xBF\xBDuno");
  EXPECT_THAT(back.student_output, HasSubstr("\"case\""));
  EXPECT_EQ(back.check(kGuard)->failing->input["number"], 7);
}

TEST(Json, a_case_stays_on_one_line) {
  const std::string text = record::to_text(testing::scales_always("bruno"));
  EXPECT_THAT(text,
              HasSubstr("\"case\": {\"number\":7,\"text\":\"one gradient [0.3], max_norm 1\"},\n"));
}

// Runs python3 with the schema and the files written so far; skipped where python3-jsonschema is
// missing.
TEST(Schema, every_kind_of_record_keeps_to_it) {
  if (std::system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
    GTEST_SKIP() << "no jsonschema";
  const char* root = std::getenv("GRADLAB_ROOT");
  ASSERT_NE(root, nullptr);
  TempFolder folder;
  Record nan = testing::scales_always("nan");
  nan.check(kGuard)->failing->off_by = std::numeric_limits<double>::quiet_NaN();
  nan.check(kGuard)->closest = std::numeric_limits<double>::infinity();
  int n = 0;
  const auto put = [&](const Record& record) {
    record::write_record(folder.path() / (std::to_string(n++) + ".json"), record);
  };
  for (const Record& record :
       {testing::right("a"), testing::untouched("b"), testing::scales_always("../\n=1"),
        testing::does_not_compile("d"), nan, unjudged("e")}) {
    put(record);
  }
  const std::string script = R"(
import json, sys, glob, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
names = sorted(glob.glob(sys.argv[2] + '/*.json'))
assert len(names) == int(sys.argv[3]), names
for name in names:
    validator.validate(json.load(open(name)))
def refuses(change):
    record = json.load(open(names[2]))
    change(record)
    assert not validator.is_valid(record), change
refuses(lambda r: r.pop('score'))
refuses(lambda r: r.update(score=None))
refuses(lambda r: r.update(score='nan'))
refuses(lambda r: r.update(surplus=1))
refuses(lambda r: r['tasks'][1]['checks'][2].update(points=3))
refuses(lambda r: r['tasks'][1]['checks'][2]['failing'].update(off_by='much'))
refuses(lambda r: r['tasks'][1]['checks'][2].update(verdict='compile_error'))
)";
  const auto path = folder.write("validate.py", script);
  const std::string command = "python3 " + path.string() + " " + root +
                              "/autograder/record/record.schema.json " + folder.path().string() +
                              " " + std::to_string(n);
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(FileStem, keeps_plain_names_and_encodes_the_rest) {
  EXPECT_EQ(record::file_stem("ada-1.b_C"), "ada-1.b_C");
  EXPECT_EQ(record::file_stem("../etc"), "%2E.%2Fetc");
  EXPECT_EQ(record::file_stem("."), "%2E");
  EXPECT_EQ(record::file_stem(""), "%");
  EXPECT_EQ(record::file_stem("a b'\"\n;$`\\=*"), "a%20b%27%22%0A%3B%24%60%5C%3D%2A");
  EXPECT_EQ(record::file_stem("José"), "Jos%C3%A9");
  EXPECT_NE(record::file_stem("a b"), record::file_stem("a%20b"));
}

TEST(FileStem, long_names_are_cut_and_stay_different) {
  const std::string a = record::file_stem(std::string(300, 'x') + "1");
  const std::string b = record::file_stem(std::string(300, 'x') + "2");
  EXPECT_LE(a.size(), 120u);
  EXPECT_NE(a, b);
  EXPECT_EQ(record::file_stem(std::string(120, 'x')), std::string(120, 'x'));
}

TEST(Store, writes_and_reads_back) {
  TempFolder folder;
  const auto path = folder.path() / "bruno.json";
  const Record record = testing::scales_always("bruno");
  record::write_record(path, record);
  record::write_record(path, record);  // over an earlier one
  EXPECT_EQ(record::to_text(record::read_record(path)), record::to_text(record));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Store, a_file_that_cannot_be_read_is_named) {
  TempFolder folder;
  EXPECT_THAT(message_of<RecordError>([&] { record::read_record(folder.path() / "no.json"); }),
              AllOf(HasSubstr("no.json"), HasSubstr("No such file")));
  EXPECT_THAT(message_of<RecordError>([&] { record::read_record(folder.path()); }),
              HasSubstr("it is a folder"));
}

TEST(Store, a_folder_that_is_not_there_is_named) {
  TempFolder folder;
  EXPECT_THAT(
      message_of<RecordError>([&] { record::write_file(folder.path() / "no/x.json", "x"); }),
      AllOf(HasSubstr("no/x.json: cannot be written (No such file"), HasSubstr("same command")));
}

// A file size limit fails the write as a full disk does: part of the bytes, then an error.
TEST(Store, a_full_disk_keeps_the_earlier_file) {
  TempFolder folder;
  const auto path = folder.write("ada.json", "earlier");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      message_of<RecordError>([&] { record::write_file(path, std::string(100000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, AllOf(HasSubstr("ada.json: cannot be written (File too large)"),
                             HasSubstr("Make room")));
  EXPECT_EQ(testing::read_text(path), "earlier");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "a left-over";
}

TEST(Sha256, the_published_vectors) {
  EXPECT_EQ(record::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(record::sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(record::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(record::sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Utf8, finds_the_first_byte_that_is_none) {
  for (const char* good : {"", "abc", "é", "€", "😀", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_FALSE(record::first_invalid_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_EQ(record::first_invalid_utf8(std::string("ok") + bad), 2u);
  }
  EXPECT_EQ(record::valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace gradlab
