// The bugs that are spotted: each is one of the bug bank's, and the line that is asked for is the
// one that differs from the right loop.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "drills/loops.hpp"

namespace gradlab::drills {
namespace {

namespace fs = std::filesystem;

std::vector<Loop> all_loops() {
  std::vector<Loop> all;
  for (auto* part : {step_loops, lab_loops, record_loops}) {
    for (auto& each : part()) all.push_back(std::move(each));
  }
  return all;
}

std::string bank_of(const std::string& slug) {
  std::string all;
  const auto bugs = fs::path(getenv("GRADLAB_ROOT")) / "reference" / slug / "bugs";
  for (const auto& entry : fs::directory_iterator(bugs)) {
    std::ifstream in(entry.path());
    all.append(std::istreambuf_iterator<char>(in), {});
  }
  return all;
}

TEST(Loops, have_mistakes_of_the_bug_bank) {
  for (const auto& loop : all_loops()) {
    const auto bank = bank_of(loop.topic);
    for (const auto& each : loop.mutations) {
      EXPECT_NE(bank.find(fmt::format(".name = \"{}\"", each.bug)), std::string::npos)
          << loop.name << ": " << each.bug;
    }
  }
}

TEST(Loops, differ_from_the_right_one_where_the_answer_says) {
  for (const auto& loop : all_loops()) {
    for (const auto& each : loop.mutations) {
      const auto now = mutated(loop, each);
      SCOPED_TRACE(loop.name + ": " + each.bug);
      ASSERT_EQ(now.lines.size(), loop.lines.size());
      std::vector<int> differing;
      for (std::size_t i = 0; i < now.lines.size(); ++i) {
        if (now.lines[i] != loop.lines[i]) differing.push_back(static_cast<int>(i));
      }
      ASSERT_FALSE(differing.empty());
      EXPECT_THAT(differing, ::testing::Contains(now.wrong.front()));
      if (each.before.empty()) {
        EXPECT_EQ(differing, now.wrong);
      } else {
        // A moved line is at an end of what has shifted.
        EXPECT_TRUE(now.wrong.front() == differing.front() ||
                    now.wrong.front() == differing.back());
        const auto& line = now.lines[static_cast<std::size_t>(now.wrong.front())];
        EXPECT_EQ(line.substr(line.find_first_not_of(' ')), each.line);
      }
    }
  }
}

TEST(Loops, accept_both_lines_where_two_neighbours_changed_places) {
  const auto loops = step_loops();
  const auto& mutations = loops[0].mutations;
  const auto swapped = std::find_if(mutations.begin(), mutations.end(), [](const Mutation& each) {
    return each.bug == "clips_before_unscaling";
  });
  ASSERT_NE(swapped, mutations.end());
  EXPECT_THAT(mutated(loops[0], *swapped).wrong, ::testing::ElementsAre(4, 5));
}

TEST(Loops, tell_each_mistake_by_another_effect) {
  for (const auto& loop : all_loops()) {
    std::set<std::string> effects;
    for (const auto& each : loop.mutations) {
      EXPECT_TRUE(effects.insert(each.effect).second) << each.effect;
      EXPECT_TRUE(each.effect.ends_with('.')) << each.effect;
      EXPECT_FALSE(each.fine.ends_with('.')) << each.fine;
    }
    EXPECT_GE(effects.size(), 4U) << loop.name;
  }
}

TEST(Loops, have_balanced_brackets_whatever_was_changed) {
  for (const auto& loop : all_loops()) {
    for (const auto& each : loop.mutations) {
      int depth = 0;
      for (const auto& line : mutated(loop, each).lines) {
        for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        EXPECT_GE(depth, 0) << loop.name << ": " << each.bug;
      }
      EXPECT_EQ(depth, 0) << loop.name << ": " << each.bug;
    }
  }
}

}  // namespace
}  // namespace gradlab::drills
