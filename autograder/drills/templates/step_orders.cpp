// The order of a step's calls.
#include <algorithm>
#include <memory>
#include <numeric>

#include "drills/step_model.hpp"
#include "drills/templates.hpp"

namespace gradlab::drills::templates {
namespace {

using Does = Call::Does;

const Call kZero{Does::kZeroGrad, "optimizer.zero_grad()"};
const Call kForward{Does::kForward, "forward and loss, in the autocast region"};
const Call kBackward{Does::kBackward, "scaler.scale(loss).backward()"};
const Call kUnscale{Does::kUnscale, "scaler.unscale_(optimizer)"};
const Call kClip{Does::kClip, "clip_grad_norm_(parameters, max_norm)"};
const Call kStep{Does::kStep, "scaler.step(optimizer)"};
const Call kUpdate{Does::kUpdate, "scaler.update()"};

StepPlan mixed() {
  return {"step_order.mixed_step",
          "step_order",
          "A mixed-precision step with clipping.",
          {kZero, kForward, kBackward, kUnscale, kClip, kStep, kUpdate}};
}

StepPlan plain() {
  return {"step_order.plain_step",
          "step_order",
          "A float32 step with clipping.",
          {kZero,
           {Does::kForward, "forward and loss"},
           {Does::kBackward, "loss.backward()"},
           kClip,
           {Does::kStep, "optimizer.step()"}},
          false};
}

StepPlan accumulated() {
  return {"step_order.accumulation",
          "step_order",
          "One step from two micro-batches.",
          {kZero,
           {Does::kBackward, "forward, then scale(loss / 2).backward(), of micro-batch 1", 0, 1},
           {Does::kBackward, "forward, then scale(loss / 2).backward(), of micro-batch 2", 0, 2},
           kUnscale,
           kClip,
           kStep,
           kUpdate}};
}

StepPlan two_optimizers() {
  return {"step_order.two_optimizers",
          "step_order",
          "Two models, two optimizers, one scaler.",
          {{Does::kZeroGrad, "zero_grad() of both optimizers"},
           {Does::kBackward, "forward, then scale(loss).backward(), of model A", 1, 1},
           {Does::kBackward, "forward, then scale(loss).backward(), of model B", 2, 2},
           {Does::kUnscaleAndClip, "unscale_ and clip A", 1},
           {Does::kUnscaleAndClip, "unscale_ and clip B", 2},
           {Does::kStep, "scaler.step(optimizer_a)", 1},
           {Does::kStep, "scaler.step(optimizer_b)", 2},
           kUpdate}};
}

StepPlan scheduled() {
  return {"step_order.with_schedule",
          "step_order",
          "A step with a learning-rate schedule.",
          {kZero,
           kForward,
           kBackward,
           kUnscale,
           kClip,
           {Does::kStep, "stepped = scaler.step(optimizer)"},
           kUpdate,
           {Does::kSchedule, "if (stepped) schedule.step()"}}};
}

StepPlan logged() {
  return {"event_log.with_scale_used",
          "event_log",
          "A step that notes the scale its backward used.",
          {kZero,
           kForward,
           kBackward,
           kUnscale,
           {Does::kClip, "norm = clip_grad_norm_(parameters, max_norm)"},
           kStep,
           {Does::kReadScale, "scale_used = scaler.get_scale(), for the log"},
           kUpdate}};
}

// The calls in an order that is not right, to be put in one that is.
Question question_of(const StepPlan& right, Random& random) {
  std::vector<int> places(right.calls.size());  // places[shown] = the call's place in `right`
  std::iota(places.begin(), places.end(), 0);
  do {
    random.shuffle(places);
  } while (mistake_in(right, places).empty());
  auto shown = std::make_shared<StepPlan>(right);
  Order order;
  for (std::size_t i = 0; i < places.size(); ++i) {
    shown->calls[i] = right.calls[static_cast<std::size_t>(places[i])];
    order.items.push_back(shown->calls[i].text);
    const auto at = std::find(places.begin(), places.end(), static_cast<int>(i));
    order.right.push_back(static_cast<int>(at - places.begin()));
  }
  order.judge = [shown](const std::vector<int>& typed) { return mistake_in(*shown, typed); };
  Question question;
  question.text = right.about + " Put the calls in order.";
  question.answer = std::move(order);
  question.hint =
      "What does each call need to find, and what does it leave for the next iteration?";
  question.why = "Every order counts in which each step gets the gradients that it should.";
  return question;
}

}  // namespace

std::vector<Template> step_orders() {
  std::vector<Template> all;
  for (const auto& plan : step_plans()) {
    all.push_back({plan.name, plan.topic, Kind::kOrder,
                   [plan](Random& random) { return question_of(plan, random); }});
  }
  return all;
}

}  // namespace gradlab::drills::templates

namespace gradlab::drills {

std::vector<StepPlan> step_plans() {
  using namespace templates;
  return {mixed(), plain(), accumulated(), two_optimizers(), scheduled(), logged()};
}

}  // namespace gradlab::drills
