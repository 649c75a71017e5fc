// Every template over many seeds: what a question promises whatever its numbers are.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "drills/check.hpp"
#include "drills/templates.hpp"
#include "drills/text.hpp"
#include "render/terminal.hpp"

namespace gradlab::drills {

void PrintTo(const Template& each, std::ostream* out) { *out << each.name; }

namespace {

using Result = Checked::Result;
constexpr std::uint64_t kSeeds = 200;

class EachTemplate : public testing::TestWithParam<Template> {
 protected:
  void for_each_question(const std::function<void(const Question&)>& test) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(fmt::format("seed {}", seed));
      test(make(GetParam(), seed));
      if (HasFailure()) return;
    }
  }
};

// The same number as different people type it.
std::vector<std::string> spellings(double value) {
  std::vector<std::string> all = {fmt::format("{:.17g}", value), fmt::format("  {:.12e} ", value),
                                  fmt::format("= {:.17g}", value)};
  const double power = std::log2(std::abs(value));
  if (power == std::round(power)) {
    const char* sign = value < 0 ? "-" : "";
    all.push_back(fmt::format("{}2^{}", sign, static_cast<int>(power)));
    all.push_back(fmt::format("{}2**{}", sign, static_cast<int>(power)));
    if (power < 0) all.push_back(fmt::format("{}1/{:.0f}", sign, 1 / std::abs(value)));
  }
  return all;
}

std::string spaced(const std::vector<double>& values, const char* between) {
  std::string text;
  for (const double value : values)
    text += (text.empty() ? "" : between) + fmt::format("{:.17g}", value);
  return text;
}

TEST_P(EachTemplate, its_own_answer_is_right_in_every_spelling) {
  for_each_question([](const Question& q) {
    EXPECT_EQ(check(q, answer_of(q)).result, Result::kRight) << answer_of(q);
    if (const auto* numbers = std::get_if<Numbers>(&q.answer)) {
      EXPECT_EQ(check(q, spaced(numbers->values, " ")).result, Result::kRight);
      if (numbers->values.size() > 1) {
        EXPECT_EQ(check(q, "[" + spaced(numbers->values, ", ") + "]").result, Result::kRight);
        return;
      }
      for (const auto& text : spellings(numbers->values.front())) {
        EXPECT_EQ(check(q, text).result, Result::kRight) << text;
        EXPECT_EQ(check(q, text + " " + numbers->unit).result, Result::kRight) << text;
      }
    }
    if (const auto* choices = std::get_if<Choices>(&q.answer); choices && !choices->listed) {
      for (const auto& also : choices->options[choices->right].also) {
        EXPECT_EQ(check(q, also).result, Result::kRight) << also;
      }
    }
    if (const auto* order = std::get_if<Order>(&q.answer)) {
      std::string close;
      for (const int item : order->right) close += std::to_string(item + 1);
      EXPECT_EQ(check(q, close).result, Result::kRight) << close;
    }
  });
}

TEST_P(EachTemplate, each_near_miss_is_wrong_and_told_by_its_mistake) {
  for_each_question([](const Question& q) {
    for (const auto& miss : q.misses) {
      const auto checked = check(q, spaced(miss.values, " "));
      EXPECT_EQ(checked.result, Result::kWrong) << shown(miss.values);
      EXPECT_EQ(checked.mistake, miss.mistake);
    }
    const auto* choices = std::get_if<Choices>(&q.answer);
    for (std::size_t i = 0; choices != nullptr && i < choices->options.size(); ++i) {
      if (i == choices->right) continue;
      const auto& option = choices->options[i];
      const auto checked = check(q, choices->listed ? std::to_string(i + 1) : option.text);
      EXPECT_EQ(checked.result, Result::kWrong) << option.text;
      EXPECT_EQ(checked.mistake, option.mistake);
      EXPECT_NE(checked.mistake, "") << option.text;
    }
  });
}

TEST_P(EachTemplate, knows_at_least_one_mistake) {
  for_each_question([](const Question& q) {
    if (std::holds_alternative<Numbers>(q.answer)) {
      EXPECT_FALSE(q.misses.empty());
    }
  });
}

TEST_P(EachTemplate, what_is_no_answer_is_asked_again) {
  for_each_question([](const Question& q) {
    for (const char* text : {"foo", "1 apple", "--", "1/0", "1 2 3 4 5 6 7 8 9 10 11"}) {
      const auto checked = check(q, text);
      EXPECT_EQ(checked.result, Result::kNoAnswer) << text;
      EXPECT_NE(checked.told, "") << text;
    }
  });
}

TEST_P(EachTemplate, the_same_seed_asks_the_same) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto one = make(GetParam(), seed), again = make(GetParam(), seed);
    EXPECT_EQ(one.text, again.text);
    EXPECT_EQ(one.code, again.code);
    EXPECT_EQ(answer_of(one), answer_of(again));
    EXPECT_EQ(one.name, GetParam().name);
  }
}

TEST_P(EachTemplate, other_seeds_ask_something_else) {
  std::set<std::string> asked;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto q = make(GetParam(), seed);
    std::string all = q.text;
    for (const auto& line : q.code) all += line;
    if (const auto* order = std::get_if<Order>(&q.answer)) {
      for (const auto& item : order->items) all += item;
    }
    if (const auto* choices = std::get_if<Choices>(&q.answer)) {
      for (const auto& option : choices->options) all += option.text;
    }
    asked.insert(all);
  }
  EXPECT_GE(asked.size(), 4U);
}

TEST_P(EachTemplate, has_a_hint_a_reason_and_a_place_to_read) {
  for_each_question([](const Question& q) {
    EXPECT_NE(q.hint, "");
    EXPECT_NE(q.why, "");
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(getenv("GRADLAB_ROOT")) / q.read))
        << q.read;
    for (const auto& text : {q.text, q.hint, q.why}) {
      EXPECT_EQ(text.find('!'), std::string::npos) << text;
      EXPECT_EQ(plain_text(text), render::printable(plain_text(text)));
    }
    for (const auto& miss : q.misses) EXPECT_FALSE(miss.mistake.ends_with('.')) << miss.mistake;
  });
}

TEST_P(EachTemplate, code_fits_into_80_columns) {
  for_each_question([](const Question& q) {
    for (const auto& line : q.code) EXPECT_LE(render::width_of(line), 73) << line;
  });
}

INSTANTIATE_TEST_SUITE_P(All, EachTemplate, testing::ValuesIn(built_in_templates()),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

TEST(Templates, are_at_least_40_with_names_of_their_own) {
  std::set<std::string> names;
  for (const auto& each : built_in_templates()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_TRUE(each.name.starts_with(each.topic + ".")) << each.name;
  }
  EXPECT_GE(names.size(), 40U);
}

TEST(Templates, cover_each_topic_and_kind) {
  std::map<std::string, int> topics;
  std::map<Kind, int> kinds;
  for (const auto& each : built_in_templates()) {
    ++topics[each.topic];
    ++kinds[each.kind];
  }
  for (const char* topic :
       {"clipping", "autocast", "loss_scaling", "step_order", "event_log", "resume"}) {
    EXPECT_GE(topics[topic], 6) << topic;
  }
  for (const auto kind :
       {Kind::kNumber, Kind::kOrder, Kind::kBug, Kind::kLog, Kind::kDtype, Kind::kPredict}) {
    EXPECT_GE(kinds[kind], 4) << word_of(kind);
  }
}

}  // namespace
}  // namespace gradlab::drills
