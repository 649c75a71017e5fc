// What is read from files: progress, drills.toml; and what is written: cards for Anki.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "drills/anki.hpp"
#include "drills/check.hpp"
#include "drills/own.hpp"
#include "drills/progress.hpp"
#include "drills/text.hpp"
#include "manifest/manifest.hpp"
#include "temp_folder.hpp"

namespace gradlab::drills {
namespace {

using ::testing::HasSubstr;

constexpr Day kToday = 20000;

Progress some() {
  Progress progress;
  progress.items["clipping.factor"] = {4, 3, 2.36, 2, 6, kToday - 1};
  progress.mistakes["turns the fraction round"] = 1;
  return progress;
}

TEST(ProgressFile, comes_back_as_it_was) {
  const auto got = read_progress(to_json(some()), kToday);
  EXPECT_EQ(got.fault, Fault::kNone);
  EXPECT_EQ(to_json(got.progress), to_json(some()));
  EXPECT_THAT(to_json(some()), HasSubstr("\"version\": 1"));
}

TEST(ProgressFile, is_damaged_wherever_it_was_cut) {
  const auto whole = to_json(some());
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    const auto got = read_progress(whole.substr(0, length), kToday);
    ASSERT_EQ(got.fault, Fault::kDamaged) << length;
    ASSERT_TRUE(got.progress.items.empty());
  }
}

TEST(ProgressFile, is_damaged_where_a_value_cannot_be) {
  const auto whole = nlohmann::json::parse(to_json(some()));
  const std::pair<const char*, nlohmann::json> wrong[] = {
      {"seen", -1},   {"seen", "4"},         {"seen", 2},     {"ease", 1.2},
      {"ease", "x"},  {"last", "yesterday"}, {"last", 20000}, {"interval", 1e300},
      {"right", 2.5}, {"repetitions", {}},   {"interval", -7}};
  for (const auto& [key, value] : wrong) {
    auto json = whole;
    json["items"]["clipping.factor"][key] = value;
    EXPECT_EQ(read_progress(json.dump(), kToday).fault, Fault::kDamaged) << key << " " << value;
    json["items"]["clipping.factor"].erase(key);
    EXPECT_EQ(read_progress(json.dump(), kToday).fault, Fault::kDamaged) << key;
  }
  for (const char* text : {"", "[]", "null", "{}", "{\"version\": 1}", "\xff\xfe"}) {
    EXPECT_EQ(read_progress(text, kToday).fault, Fault::kDamaged) << text;
  }
}

TEST(ProgressFile, of_a_newer_gradlab_is_told_apart) {
  auto json = nlohmann::json::parse(to_json(some()));
  json["version"] = 2;
  json["items"] = "another form";
  EXPECT_EQ(read_progress(json.dump(), kToday).fault, Fault::kNewer);
}

TEST(ProgressFile, from_the_future_waits_no_longer_than_its_interval) {
  auto progress = some();
  progress.items["clipping.factor"].last = kToday + 5000;
  const auto got = read_progress(to_json(progress), kToday).progress.items.at("clipping.factor");
  EXPECT_EQ(got.due(), kToday + 6);
  EXPECT_EQ(got.seen, 4);
}

TEST(Locks, are_for_one_at_a_time) {
  const gradlab::testing::TempFolder folder;
  const auto file = folder.path() / "drills.lock";
  {
    const auto first = Lock::take(file);
    EXPECT_TRUE(first.has_value());
    EXPECT_FALSE(Lock::take(file).has_value());
  }
  EXPECT_TRUE(Lock::take(file).has_value());
}

// ---- drills.toml

class DrillsToml : public ::testing::Test {
 protected:
  std::vector<Template> read(const std::string& text) {
    const auto file = folder_.path() / "drills.toml";
    std::ofstream(file) << text;
    return read_drills(file, "mine.toml", "own", "own");
  }

  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const manifest::ManifestError& error) {
      return error.what();
    }
    return "";
  }

 private:
  gradlab::testing::TempFolder folder_;
};

TEST_F(DrillsToml, holds_numbers_choices_and_own_words) {
  const auto drills = read(R"([[drill]]
name = "factor"
topic = "clipping"
question = "By which factor?"
number = "1/5"
within = 1
unit = "times"
near = [{ number = "5", mistake = "turns it round" }]
code = """
auto norm = 5;
auto limit = 1;
"""

[[drill]]
name = "which"
question = "Which one?"
choices = ["this", "that", "none"]

[[drill]]
name = "why"
question = "Why?"
answer = "So."
hint = "Think."
)");
  ASSERT_EQ(drills.size(), 3U);
  const auto factor = make(drills[0], 1);
  EXPECT_EQ(factor.name, "own.factor");
  EXPECT_EQ(factor.topic, "clipping");
  EXPECT_THAT(factor.code, ::testing::ElementsAre("auto norm = 5;", "auto limit = 1;"));
  EXPECT_EQ(check(factor, "0.2015").result, Checked::Result::kRight);
  EXPECT_EQ(check(factor, "5").mistake, "turns it round");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto which = make(drills[1], seed);
    const auto& choices = std::get<Choices>(which.answer);
    EXPECT_EQ(choices.options[choices.right].text, "this");
  }
  EXPECT_EQ(drills[2].kind, Kind::kRecall);
  EXPECT_EQ(answer_of(make(drills[2], 1)), "So.");
}

TEST_F(DrillsToml, names_file_line_and_remedy_where_it_is_wrong) {
  const std::string head = "[[drill]]\nname = \"a\"\nquestion = \"?\"\n";
  const std::pair<std::string, std::string> wrong[] = {
      {"", "mine.toml"},
      {"[[drill]]\nname = \n", "mine.toml:2: is not TOML"},
      {"[[drill]]\nquestion = \"?\"\nanswer = \"x\"\n", "key 'name': is missing"},
      {"[[drill]]\nname = \"Not Good\"\nquestion = \"?\"\nanswer = \"x\"\n",
       "mine.toml:2: key 'name'"},
      {head, "key 'answer': is missing"},
      {head + "anser = \"x\"\n", "did you mean 'answer'"},
      {head + "number = \"five\"\n", "mine.toml:4: key 'number': must be a number as text"},
      {head + "number = 5\n", "mine.toml:4: key 'number'"},
      {head + "choices = [\"one\"]\n", "mine.toml:4: key 'choices': must be 2 to 9"},
      {head + "number = \"1\"\nnear = [{ number = \"1\", mistake = \"x\" }]\n",
       "unlike the answer"},
      {head + "answer = \"x\"\nhnt = \"x\"\n", "mine.toml:5: key 'hnt': is not known here"},
      {head + "answer = \"x\"\ncode = 7\n", "mine.toml:5: key 'code'"},
      {head + "answer = \"x\"\n[[drill]]\nname = \"a\"\nquestion = \"?\"\nanswer = \"y\"\n",
       "mine.toml:6: key 'name': must be unlike the others"}};
  for (const auto& [text, part] : wrong) {
    EXPECT_THAT(refusal(text), HasSubstr(part)) << text;
  }
}

TEST_F(DrillsToml, cannot_move_the_cursor) {
  const auto q =
      make(read("[[drill]]\nname = \"a\"\nquestion = \"x\\u202ey\"\nanswer = \"z\"\n")[0], 1);
  EXPECT_EQ(q.text, "x\\u202ey");
}

TEST(LabDrills, can_be_read_and_each_lab_has_some) {
  const std::filesystem::path labs = std::filesystem::path(getenv("GRADLAB_ROOT")) / "labs";
  std::size_t recalls = 0;
  for (const char* slug :
       {"clipping", "autocast", "loss_scaling", "step_order", "event_log", "resume"}) {
    const auto drills = read_drills(labs / slug / "drills.toml", slug, slug, slug);
    EXPECT_GE(drills.size(), 2U) << slug;
    for (const auto& each : drills) {
      EXPECT_EQ(each.topic, slug);
      recalls += each.kind == Kind::kRecall ? 1 : 0;
    }
  }
  EXPECT_GE(recalls, 7U);  // the unit's four questions and three traps
}

// ---- Anki

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Anki, writes_a_header_and_one_line_of_four_columns_a_card) {
  std::vector<Question> questions;
  for (const auto& each : built_in_templates()) questions.push_back(make(each, 3));
  const auto lines = lines_of(anki_text(questions));
  EXPECT_THAT(lines, ::testing::IsSupersetOf(
                         {"#separator:tab", "#html:true", "#guid column:1", "#tags column:4"}));
  std::size_t cards = 0;
  for (const auto& line : lines) {
    if (line.starts_with('#')) continue;
    ++cards;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 3) << line;
    for (const char c : line) EXPECT_TRUE(c == '\t' || static_cast<unsigned char>(c) >= 0x20);
  }
  EXPECT_EQ(cards, questions.size());
}

TEST(Anki, has_maths_as_mathjax_and_code_as_html) {
  auto q = ask_number("Is a < b at " + maths("s / 2", "\\frac{s}{2}") + "?", 1e-6);
  q.name = "clipping.x";
  q.topic = "clipping";
  q.code = {"if (a < b) {", "\tx();"};
  const auto text = anki_text({q, q});
  EXPECT_THAT(text, HasSubstr("Is a &lt; b at \\(\\frac{s}{2}\\)?"));
  EXPECT_THAT(text, HasSubstr("if (a &lt; b) {<br> x();</pre>"));
  EXPECT_THAT(text, HasSubstr("<b>\\(10^{-6}\\)</b>"));
  EXPECT_THAT(text, HasSubstr("gradlab.clipping.x.1\t"));
  EXPECT_THAT(text, HasSubstr("gradlab.clipping.x.2\t"));
  EXPECT_THAT(text, HasSubstr("\tgradlab gradlab::clipping\n"));
  q.topic = "weight decay";
  q.name = "own.a\tb.x";
  EXPECT_THAT(anki_text({q}), HasSubstr("gradlab.own.a b.x.1\t"));
  EXPECT_THAT(anki_text({q}), HasSubstr("\tgradlab gradlab::weight_decay\n"));
}

}  // namespace
}  // namespace gradlab::drills
