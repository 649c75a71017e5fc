// handouts/amp.md, handouts/frameworks.md and the drills' table of dtypes held to the code: the
// loops are those that are compiled here, and they run; its table is what a run gives now.
#include <stdlib.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/schedulers/step_lr.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <filesystem>

#include "support/golden.hpp"
#include "support/ops_table.hpp"
#include "support/shown_code.hpp"
#include "training_loop.hpp"

namespace {

class HandoutCode : public testing::TestWithParam<const char*> {};

TEST_P(HandoutCode, is_what_is_compiled) {
  const std::string file = "tests/amp/training_loop.cpp";
  const std::string code = shown_code::region(file, GetParam());
  ASSERT_NE(code, "") << "no region " << GetParam();
  EXPECT_EQ(shown_code::shown("handouts/amp.md", file, GetParam()), code);
}

INSTANTIATE_TEST_SUITE_P(Regions, HandoutCode,
                         testing::Values("loop", "accumulate", "two", "checkpoint", "observer"));

TEST(FrameworksCode, is_what_is_compiled) {
  const std::string file = "tests/amp/training_loop.cpp";
  EXPECT_EQ(shown_code::shown("handouts/frameworks.md", file, "schedule"),
            shown_code::region(file, "schedule"));
}

TEST(HandoutTable, is_what_a_run_gives) {
  const std::string shown = shown_code::between(shown_code::text_of("handouts/amp.md"),
                                                "<!-- amp_ops_table -->", "<!-- end -->");
  EXPECT_EQ(shown, golden::ops_table()) << "the program amp_ops_table prints it anew";
}

TEST(DrillDtypes, are_what_a_run_gives) {
  EXPECT_EQ(shown_code::text_of("autograder/drills/op_dtypes.inc"), golden::drill_dtypes())
      << "build/dev/bin/amp_ops_table drills prints it anew";
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

class CountedSchedule : public torch::optim::LRScheduler {
 public:
  using LRScheduler::LRScheduler;
  int64_t moves = 0;

 private:
  std::vector<double> get_lrs() override {
    ++moves;
    return get_current_lrs();
  }
};

// The run that handouts/frameworks.md has of four libraries: 14 steps, the first 10 of them skips.
TEST(FrameworksLoop, moves_the_schedule_only_with_a_step) {
  torch::nn::Sequential net(torch::nn::Linear(torch::nn::LinearOptions(4, 1).bias(false)));
  const auto weight = net->parameters()[0];
  torch::nn::init::ones_(weight);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  CountedSchedule schedule(optimizer);
  const handout::Batches same(14, {torch::full({2, 4}, 10.0), torch::zeros({2, 1})});
  handout::train_on_schedule(net, optimizer, schedule, same);
  EXPECT_TRUE(torch::allclose(weight, torch::full({1, 4}, 0.8))) << weight;
  EXPECT_EQ(schedule.moves, 4);
}

TEST(FrameworksClaim, libtorchs_step_schedule_is_one_call_behind_pythons) {
  torch::optim::SGD optimizer({torch::zeros({1})}, torch::optim::SGDOptions(0.1));
  torch::optim::StepLR schedule(optimizer, 4, 0.5);
  std::vector<double> rates;
  for (int call = 0; call < 5; ++call) {
    schedule.step();
    rates.push_back(optimizer.param_groups()[0].options().get_lr());
  }
  EXPECT_THAT(rates, testing::ElementsAre(0.1, 0.1, 0.1, 0.1, 0.05));
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
