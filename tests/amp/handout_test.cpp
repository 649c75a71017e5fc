// handouts/amp.md held to the code: its loops are those that are compiled here, and they run; its
// table is what a run gives now.
#include <stdlib.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/golden.hpp"
#include "support/ops_table.hpp"
#include "training_loop.hpp"

namespace {

std::string root() {
  const char* folder = std::getenv("GRADLAB_ROOT");
  return folder != nullptr ? folder : ".";
}

std::string text_of(const std::string& path) {
  std::ifstream in(root() + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// What stands between two lines that hold `begin` and `end`, without them; "" where they are
// missing.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const size_t first = text.find('\n', from) + 1;
  const size_t to = text.find(end, first);
  if (to == std::string::npos) return "";
  return text.substr(first, text.rfind('\n', to) + 1 - first);
}

// Without the indentation that a whole region has.
std::string shifted(const std::string& text) {
  size_t indent = std::string::npos;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
  }
  std::string out;
  std::istringstream again(text);
  for (std::string line; std::getline(again, line);) {
    out += (line.empty() ? "" : line.substr(indent)) + "\n";
  }
  return out;
}

class HandoutCode : public testing::TestWithParam<const char*> {};

TEST_P(HandoutCode, is_what_is_compiled) {
  const std::string name = GetParam();
  const std::string mark = "//! [" + name + "]";
  const std::string code = between(text_of("tests/amp/training_loop.cpp"), mark, mark);
  ASSERT_NE(code, "") << "no region " << name;
  const std::string shown =
      between(between(text_of("handouts/amp.md"),
                      "<!-- tests/amp/training_loop.cpp [" + name + "] -->", "<!-- end -->"),
              "```cpp", "```");
  EXPECT_EQ(shown, shifted(code));
}

INSTANTIATE_TEST_SUITE_P(Regions, HandoutCode,
                         testing::Values("loop", "accumulate", "two", "checkpoint", "observer"));

TEST(HandoutTable, is_what_a_run_gives) {
  const std::string shown =
      between(text_of("handouts/amp.md"), "<!-- amp_ops_table -->", "<!-- end -->");
  EXPECT_EQ(shown, golden::ops_table()) << "the program amp_ops_table prints it anew";
}

// ---- the loops run

torch::nn::Sequential model() {
  torch::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Linear(4, 8), torch::nn::Linear(8, 1));
}

handout::Batches batches(int count) {
  torch::manual_seed(2);
  const auto x = torch::randn({8, 4});
  return handout::Batches(static_cast<size_t>(count), {x, x.sum(1, true)});
}

TEST(HandoutLoop, trains_and_skips_only_at_the_start) {
  auto net = model();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  const auto trained = handout::train(net, optimizer, batches(60));
  EXPECT_LT(trained.losses.back(), 0.1 * trained.losses.front());
  EXPECT_LT(trained.skipped, 10);
}

TEST(HandoutLoop, accumulates) {
  auto net = model();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  EXPECT_GT(handout::train_in_halves(net, optimizer, batches(20)), 10);
}

TEST(HandoutLoop, trains_two_optimizers) {
  auto first = model(), second = model();
  torch::optim::SGD one(first->parameters(), torch::optim::SGDOptions(0.05));
  torch::optim::SGD two(second->parameters(), torch::optim::SGDOptions(0.05));
  const auto before = first->parameters()[0].clone();
  handout::train_two(first, one, second, two, batches(20));
  EXPECT_FALSE(first->parameters()[0].equal(before));
}

TEST(HandoutLoop, saves_and_loads) {
  char folder[] = "/tmp/gradlab-amp-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  auto net = model();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  const std::string state = handout::save_and_load(net, optimizer, folder);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(golden::Json::parse(state).at("scale"), 512.0);
}

TEST(HandoutLoop, is_observed) {
  auto net = model();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  EXPECT_THAT(handout::watched(net, optimizer, batches(1)),
              testing::ElementsAre("autocast", "scale", "unscale_", "clip_grad_norm_",
                                   "get_total_norm", "clip_grads_with_norm_", "step", "update"));
}

}  // namespace
