// A record as JSON: read back the same, refused with field and value when damaged, and kept to its
// schema.
#include <gmock/gmock.h>

#include <cstdlib>
#include <limits>

#include "record/record.hpp"
#include "record/store.hpp"
#include "sample_lab.hpp"
#include "temp_folder.hpp"

namespace gradlab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TempFolder;
using testing::unjudged;

constexpr char kGuard[] = "small_norm_is_left_alone";

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

// Runs Debian's python3 with the schema and the files written so far; skipped where
// python3-jsonschema is missing.
TEST(Schema, every_kind_of_record_keeps_to_it) {
  if (std::system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0)
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
  const std::string command = "/usr/bin/python3 " + path.string() + " " + root +
                              "/autograder/record/record.schema.json " + folder.path().string() +
                              " " + std::to_string(n);
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace gradlab
