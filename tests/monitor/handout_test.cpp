// The README's loops are those that are compiled here (loop_test runs them), and the format's page
// names every event there is, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "support/shown_code.hpp"

namespace {

class Readme : public testing::TestWithParam<const char*> {};

TEST_P(Readme, shows_what_is_compiled) {
  const std::string file = "tests/monitor/training_loop.cpp";
  const std::string code = shown_code::region(file, GetParam());
  ASSERT_NE(code, "") << "no region " << GetParam();
  EXPECT_EQ(shown_code::shown("reference/monitor/README.md", file, GetParam()), code);
}

INSTANTIATE_TEST_SUITE_P(Regions, Readme, testing::Values("loop", "callback", "checkpoint"));

std::set<std::string> found(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    all.insert((*at)[1].str());
  }
  return all;
}

std::set<std::string> told_in_sources() {
  const char* root = std::getenv("GRADLAB_ROOT");
  std::set<std::string> all;
  const std::string folder = std::string(root != nullptr ? root : ".") + "/reference/monitor/src";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string text =
        shown_code::text_of("reference/monitor/src/" + file.path().filename().string());
    const std::string call = "(?:tell|event|tell_once)\\((?:[a-z_]+,)?\\s*\"([a-z_]+)\",\\s";
    all.merge(found(text, call));
  }
  return all;
}

TEST(LogFormat, names_every_event_and_no_other) {
  const std::string page = shown_code::text_of("handouts/log_format.md");
  const std::string rows = page.substr(page.find("| event | severity |"));
  std::set<std::string> documented;
  for (const auto& cell : found(rows, "\n\\| ([^|]*) \\|")) {
    documented.merge(found(cell, "`([a-z_]+)`"));
  }
  const auto told = told_in_sources();
  EXPECT_GE(told.size(), 25U);
  EXPECT_EQ(documented, told);
}

TEST(LogFormat, example_is_strict_json) {
  const std::string example =
      shown_code::between(shown_code::text_of("handouts/log_format.md"), "```json", "```");
  std::istringstream lines(example);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
  EXPECT_EQ(count, 5);
}

}  // namespace
