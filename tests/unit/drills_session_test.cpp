// A round as whoever answers sees it: what each key does, and what is kept.
#include <gmock/gmock.h>

#include <deque>
#include <sstream>

#include "drills/plan.hpp"
#include "drills/session.hpp"
#include "drills/stats.hpp"

namespace gradlab::drills {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Kept {
  std::string name;
  int grade;
  std::string mistake;
};

class Rounds : public testing::Test {
 protected:
  Tally play(Round round, std::deque<std::string> typed) {
    shown.clear();
    kept.clear();
    Talk talk;
    talk.say = [this](const std::string& text) { shown += text; };
    talk.read = [&]() -> std::optional<std::string> {
      if (typed.empty()) return std::nullopt;
      const auto line = typed.front();
      typed.pop_front();
      return line;
    };
    return ask(round, talk, [this](const Question& q, int grade, const std::string& mistake) {
      kept.push_back({q.name, grade, mistake});
    });
  }

  static Question fifth() {
    auto q = ask_number("By which factor?", 0.2, 0.005);
    q.miss(5, "turns the fraction round");
    q.name = "clipping.factor";
    q.topic = "clipping";
    q.hint = "Below 1.";
    q.why = "It is 1 / 5.";
    q.read = "handouts/clipping.md";
    return q;
  }

  static Question in_words() {
    Question q;
    q.name = "step_order.why";
    q.topic = "step_order";
    q.kind = Kind::kRecall;
    q.text = "Why?";
    q.answer = OwnWords{"Because the limit is for true gradients."};
    return q;
  }

  std::string shown;
  std::vector<Kept> kept;
};

TEST_F(Rounds, a_right_answer_is_told_with_its_reason) {
  const auto tally = play({{fifth()}}, {"1/5"});
  EXPECT_THAT(shown, HasSubstr("right   0.2"));
  EXPECT_THAT(shown, HasSubstr("It is 1 / 5."));
  EXPECT_EQ(tally.right, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].grade, kAtOnce);
}

TEST_F(Rounds, a_near_miss_is_told_by_its_mistake) {
  play({{fifth()}}, {"5"});
  EXPECT_THAT(shown, HasSubstr("That answer turns the fraction round."));
  EXPECT_THAT(shown, HasSubstr("the answer is 0.2"));
  EXPECT_THAT(shown, HasSubstr("handouts/clipping.md"));
  EXPECT_EQ(kept.at(0).grade, kKnownMistake);
  EXPECT_EQ(kept.at(0).mistake, "turns the fraction round");
}

TEST_F(Rounds, another_wrong_answer_names_no_mistake) {
  play({{fifth()}}, {"0.7"});
  EXPECT_THAT(shown, Not(HasSubstr("That answer")));
  EXPECT_EQ(kept.at(0).grade, kOtherMistake);
}

TEST_F(Rounds, what_is_no_answer_is_asked_again_and_not_wrong) {
  const auto tally = play({{fifth()}}, {"foo", "0,2", "0.2"});
  EXPECT_THAT(shown, HasSubstr("That is not a number."));
  EXPECT_THAT(shown, HasSubstr("without commas"));
  EXPECT_EQ(tally.right, 1);
  EXPECT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept.at(0).grade, kAtOnce);
}

TEST_F(Rounds, an_empty_line_and_a_question_mark_give_the_hint_at_a_price) {
  for (const char* key : {"", "?", "  "}) {
    play({{fifth()}}, {key, "0.2"});
    EXPECT_THAT(shown, HasSubstr("Below 1."));
    EXPECT_EQ(kept.at(0).grade, kWithHint);
  }
}

TEST_F(Rounds, s_skips_and_counts_nothing) {
  const auto tally = play({{fifth(), fifth()}}, {"s", "0.2"});
  EXPECT_THAT(shown, HasSubstr("skipped   the answer is 0.2"));
  EXPECT_EQ(tally.skipped, 1);
  EXPECT_EQ(kept.size(), 1U);
}

TEST_F(Rounds, q_and_the_end_of_the_input_keep_what_was_done) {
  for (const auto& typed : {std::deque<std::string>{"0.2", "q"}, std::deque<std::string>{"0.2"}}) {
    const auto tally = play({{fifth(), fifth(), fifth()}}, typed);
    EXPECT_TRUE(tally.left);
    EXPECT_EQ(tally.asked, 1);
    EXPECT_EQ(kept.size(), 1U);
  }
}

TEST_F(Rounds, own_words_are_graded_beside_a_model_answer) {
  const std::pair<const char*, int> grades[] = {
      {"y", kAtOnce}, {"p", kPartly}, {"n", kOtherMistake}};
  for (const auto& [key, grade] : grades) {
    play({{in_words()}}, {"scaled values", "what", key});
    EXPECT_THAT(shown, HasSubstr("Because the limit is for true gradients."));
    EXPECT_EQ(kept.at(0).grade, grade);
  }
  EXPECT_TRUE(play({{in_words()}}, {"scaled values", "q"}).left);
  EXPECT_TRUE(kept.empty());
}

TEST_F(Rounds, an_exam_tells_nothing_before_its_end) {
  const Round exam{{fifth(), fifth(), fifth()}, true};
  const auto tally = play(exam, {"?", "5", "0.2", "s"});
  EXPECT_THAT(shown, HasSubstr("An exam has no hints."));
  EXPECT_THAT(shown, Not(HasSubstr("Below 1.")));
  for (const char* told : {"right", "wrong", "answer is", "turns the fraction"}) {
    EXPECT_THAT(shown, Not(HasSubstr(told)));
  }
  const auto end = exam_text(tally, exam.questions, 80);
  EXPECT_THAT(end, HasSubstr("exam: 1 of 3 right, 1 not answered"));
  EXPECT_THAT(end, HasSubstr("clipping          1 of 3"));
  EXPECT_THAT(end, HasSubstr("clipping.factor: turns the fraction round; the answer is 0.2"));
}

TEST_F(Rounds, lines_keep_to_the_width) {
  auto q = fifth();
  for (int i = 0; i < 40; ++i) q.text += " and so on";
  play({{q}}, {"5"});
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

// ---- what a round asks

Plan plan(std::uint64_t seed) {
  Plan plan;
  plan.seed = seed;
  plan.today = 20000;
  return plan;
}

std::vector<std::string> texts(const Plan& plan, const Progress& progress) {
  std::vector<std::string> all;
  for (const auto& q : planned(built_in_templates(), plan, progress))
    all.push_back(q.name + q.text);
  return all;
}

Progress with(const std::string& name, Day last, std::int64_t interval) {
  Progress progress;
  progress.items[name] = {1, 1, 2.5, 1, interval, last};
  return progress;
}

TEST(Plans, a_seed_asks_the_same_whatever_was_done_before) {
  auto fixed = plan(5);
  fixed.in_need = false;
  EXPECT_EQ(texts(fixed, {}), texts(fixed, with("clipping.factor", 19000, 1)));
  auto other = plan(6);
  other.in_need = false;
  EXPECT_NE(texts(fixed, {}), texts(other, {}));
}

TEST(Plans, what_is_due_comes_first_then_what_is_new) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto due = with("resume.window", 19999, 1);
    EXPECT_EQ(planned(built_in_templates(), plan(seed), due).front().name, "resume.window");
    auto all = plan(seed);
    all.count = built_in_templates().size();
    const auto later = with("resume.window", 20000, 6);
    EXPECT_EQ(planned(built_in_templates(), all, later).back().name, "resume.window");
  }
}

TEST(Plans, due_asks_only_what_is_due_and_once) {
  auto due = plan(1);
  due.due = true;
  EXPECT_TRUE(planned(built_in_templates(), due, {}).empty());
  EXPECT_TRUE(planned(built_in_templates(), due, with("resume.window", 20000, 1)).empty());
  EXPECT_EQ(planned(built_in_templates(), due, with("resume.window", 19999, 1)).size(), 1U);
  EXPECT_TRUE(planned(built_in_templates(), due, with("gone.since", 19999, 1)).empty());
}

TEST(Plans, a_topic_has_its_own_questions_alone) {
  auto one = plan(1);
  one.topic = "autocast";
  one.count = 30;
  const auto questions = planned(built_in_templates(), one, {});
  EXPECT_EQ(questions.size(), 30U);  // again, with other numbers
  for (const auto& q : questions) EXPECT_EQ(q.topic, "autocast");
}

// ---- stats

TEST(Stats, tell_what_was_seen_right_and_due_by_topic) {
  auto progress = with("resume.window", 19999, 1);
  progress.items["clipping.factor"] = {4, 3, 2.5, 2, 6, 19998};
  progress.mistakes["turns the fraction round"] = 2;
  const auto text = stats_text(built_in_templates(), progress, 20000, 80);
  EXPECT_THAT(text, testing::ContainsRegex("clipping +[0-9]+ +4 +3 +0 +2024-10-08"));
  EXPECT_THAT(text, testing::ContainsRegex("resume +[0-9]+ +1 +1 +1 +today"));
  EXPECT_THAT(text, testing::ContainsRegex("autocast +[0-9]+ +0 +0 +0 +-"));
  EXPECT_THAT(text, testing::ContainsRegex("all +[0-9]+ +5 +4 +1 +today"));
  EXPECT_THAT(text, testing::ContainsRegex("2  turns the fraction round"));
}

TEST(Stats, say_what_is_due_next) {
  const auto& all = built_in_templates();
  EXPECT_EQ(next_due_text(all, {}, 20000), "");
  EXPECT_EQ(next_due_text(all, with("resume.window", 20000, 1), 20000), "1 is due tomorrow");
  EXPECT_EQ(next_due_text(all, with("resume.window", 19000, 1), 20000), "1 is due today");
  EXPECT_EQ(next_due_text(all, with("resume.window", 20000, 6), 20000), "1 is due on 2024-10-10");
}

}  // namespace
}  // namespace gradlab::drills
