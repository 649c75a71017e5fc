// What an observer is told of scaler, guard and clip, and that without one nothing is.
#include "gradlab/amp/observer.hpp"

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include "gradlab/amp/autocast.hpp"
#include "gradlab/amp/clip.hpp"
#include "gradlab/amp/grad_scaler.hpp"
#include "support/models.hpp"

namespace {

namespace amp = gradlab::amp;
using amp::Event;
using testing::ElementsAre;

// Writes calls as "unscale_(" and ")unscale_", a failed end as "!unscale_".
class Recorder : public amp::Observer {
 public:
  void begin(const Event& event) noexcept override {
    lines.push_back(std::string(amp::name(event.call)) + "(");
    events.push_back(event);
  }
  void end(const Event& event) noexcept override {
    lines.push_back((event.failed ? "!" : ")") + std::string(amp::name(event.call)));
    events.push_back(event);
  }

  std::vector<std::string> lines;
  std::vector<Event> events;
};

struct Loop {
  amp::GradScaler scaler;
  torch::Tensor parameter = torch::ones({2}).set_requires_grad(true);
  torch::optim::SGD optimizer{{parameter}, torch::optim::SGDOptions(0.1)};

  void backward() {
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kBFloat16);
      loss = (parameter * 3).sum();
    }
    scaler.scale(loss).backward();
  }
};

TEST(Observer, sees_a_whole_step_in_order) {
  Loop loop;
  Recorder recorder;
  {
    const amp::ObserverScope scope(recorder);
    loop.backward();
    loop.scaler.unscale_(loop.optimizer);
    amp::clip_grad_norm_(loop.parameter, 1);
    loop.scaler.step(loop.optimizer);
    loop.scaler.update();
  }
  loop.scaler.scale(torch::ones({}));  // after the scope: not seen
  EXPECT_THAT(recorder.lines,
              ElementsAre("autocast(", ")autocast", "scale(", ")scale", "unscale_(", ")unscale_",
                          "clip_grad_norm_(", "get_total_norm(", ")get_total_norm",
                          "clip_grads_with_norm_(", ")clip_grads_with_norm_", ")clip_grad_norm_",
                          "step(", ")step", "update(", ")update"));
}

TEST(Observer, sees_the_unscale_inside_a_step) {
  Loop loop;
  loop.backward();
  Recorder recorder;
  const amp::ObserverScope scope(recorder);
  loop.scaler.step(loop.optimizer);
  EXPECT_THAT(recorder.lines, ElementsAre("step(", "unscale_(", ")unscale_", ")step"));
}

TEST(Observer, is_told_who_with_what_and_how_it_ended) {
  Loop loop;
  loop.backward();
  Recorder recorder;
  const amp::ObserverScope scope(recorder);
  const auto norm = amp::clip_grad_norm_(loop.parameter, 0.5);
  EXPECT_EQ(recorder.events.front().limit, 0.5);
  EXPECT_FALSE(recorder.events.front().total_norm.defined());
  EXPECT_TRUE(recorder.events.back().total_norm.is_same(norm));

  loop.parameter.mutable_grad().fill_(amp_test::kInf);
  loop.scaler.step(loop.optimizer);
  EXPECT_EQ(recorder.events.back().scaler, &loop.scaler);
  EXPECT_EQ(recorder.events.back().optimizer, &loop.optimizer);
  EXPECT_FALSE(recorder.events.back().stepped);

  const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
  EXPECT_EQ(recorder.events.back().dtype, torch::kHalf);
  EXPECT_EQ(recorder.events.back().device, torch::kCPU);
  EXPECT_TRUE(recorder.events.back().enabled);
  EXPECT_EQ(recorder.events.back().depth, 1);
}

TEST(Observer, is_told_where_an_exception_leaves_a_call) {
  Loop loop;
  Recorder recorder;
  const amp::ObserverScope scope(recorder);
  EXPECT_THROW(loop.scaler.step(loop.optimizer), amp::Error);
  EXPECT_THROW(amp::clip_grad_value_(loop.parameter, 1), amp::Error);
  try {
    const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
    throw std::runtime_error("the model failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(recorder.lines, ElementsAre("step(", "!step", "clip_grad_value_(",
                                          "!clip_grad_value_", "autocast(", "!autocast"));
}

// A guard that begins unseen ends unseen, and the other way round.
TEST(Observer, sees_both_ends_of_a_region_or_none) {
  Recorder recorder;
  {
    const amp::AutocastGuard before(torch::kCPU, torch::kHalf);
    const amp::ObserverScope scope(recorder);
    EXPECT_TRUE(recorder.lines.empty());
  }
  EXPECT_TRUE(recorder.lines.empty());
}

TEST(Observer, scopes_nest) {
  Recorder outer, inner;
  const amp::ObserverScope one(outer);
  {
    const amp::ObserverScope two(inner);
    amp::get_total_norm(torch::ones({1}));
  }
  amp::get_total_norm(torch::ones({1}));
  EXPECT_EQ(inner.lines.size(), 2);
  EXPECT_EQ(outer.lines.size(), 2);
}

}  // namespace
