// A step executed on paper: which gradients the optimizer gets when the calls come in some order.
// Two iterations in a row, because what one leaves behind is the next one's mistake. Every order
// whose steps get what they should is right; none is listed anywhere.
#pragma once

#include <string>
#include <vector>

namespace gradlab::drills {

struct Call {
  enum class Does {
    kZeroGrad,  // of all optimizers
    kForward,   // forward and loss of `part`
    kBackward,  // of `part`'s loss, scaled; where it has no kForward, with its forward
    kUnscale,   // of `optimizer`
    kClip,      // of `optimizer`
    kUnscaleAndClip,
    kStep,       // of `optimizer`
    kUpdate,     // of the scaler
    kSchedule,   // the learning rate's
    kReadScale,  // for the log: the scale that this iteration used
  };
  Does does;
  std::string text;   // as it is shown
  int optimizer = 0;  // whose gradients
  int part = 0;       // which loss: a micro-batch, a model
};

struct StepPlan {
  std::string name;         // "step_order.mixed_step"
  std::string topic;        // a lab's slug
  std::string about;        // "A step from two micro-batches."
  std::vector<Call> calls;  // in one right order
  bool scaled = true;       // with a scaler
};

// All that are asked.
std::vector<StepPlan> step_plans();

// What goes wrong when the calls run in this order; "" where nothing does.
std::string mistake_in(const StepPlan& plan, const std::vector<int>& order);

}  // namespace gradlab::drills
