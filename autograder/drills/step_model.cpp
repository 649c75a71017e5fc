#include "drills/step_model.hpp"

#include <map>
#include <set>
#include <utility>

namespace gradlab::drills {
namespace {

using Does = Call::Does;

struct Wrong {
  std::string what;
};

// A loss of an iteration, known by its part and the iteration.
using Loss = std::pair<int, int>;

class Machine {
 public:
  explicit Machine(const StepPlan& plan) : plan_(plan) {
    for (const auto& call : plan.calls) {
      if (call.does == Does::kBackward) losses_of_[call.optimizer].insert(call.part);
      if (call.does == Does::kStep) steps_.insert(call.optimizer);
      has_forward_ = has_forward_ || call.does == Does::kForward;
      clips_ = clips_ || call.does == Does::kClip || call.does == Does::kUnscaleAndClip;
    }
  }

  void iterate(const std::vector<int>& order) {
    stepped_.clear();
    updated_ = false;
    for (const int index : order) run(plan_.calls[static_cast<std::size_t>(index)]);
    ++iteration_;
  }

 private:
  struct Gradients {
    std::set<Loss> from;
    bool unscaled = false;
    bool clipped = false;
  };

  void run(const Call& call) {
    auto& gradients = gradients_[call.optimizer];
    switch (call.does) {
      case Does::kZeroGrad:
        clear();
        break;
      case Does::kForward:
        forward_[call.part] = iteration_;
        break;
      case Does::kBackward:
        backward(call, gradients);
        break;
      case Does::kUnscale:
        unscale(call, gradients);
        break;
      case Does::kUnscaleAndClip:
        unscale(call, gradients);
        gradients.clipped = true;
        break;
      case Does::kClip:
        clip(call, gradients);
        break;
      case Does::kStep:
        step(call, gradients);
        break;
      case Does::kUpdate:
        update();
        break;
      case Does::kSchedule:
        if (stepped_.count(call.optimizer) == 0) {
          throw Wrong{"moves the schedule before the step it follows"};
        }
        break;
      case Does::kReadScale:
        if (updated_) throw Wrong{"reads the scale after update, which has changed it"};
        break;
    }
  }

  void clear() {
    for (auto& [optimizer, each] : gradients_) {
      if (!each.from.empty() && stepped_.count(optimizer) == 0) {
        const bool old = each.from.begin()->second < iteration_;
        if (!old) throw Wrong{"clears gradients before a step has used them"};
      }
      each = {};
    }
  }

  void backward(const Call& call, Gradients& gradients) {
    if (has_forward_ && forward_[call.part] != iteration_) {
      throw Wrong{"runs backward before there is a loss"};
    }
    if (gradients.unscaled) throw Wrong{"adds scaled gradients to unscaled ones"};
    if (updated_) throw Wrong{"updates the scaler before all gradients are there"};
    gradients.from.insert({call.part, iteration_});
  }

  void need_all(const Call& call, const Gradients& gradients, const char* what) const {
    for (const int part : losses_of_.at(call.optimizer)) {
      if (gradients.from.count({part, iteration_}) == 0) throw Wrong{what};
    }
  }

  void unscale(const Call& call, Gradients& gradients) {
    need_all(call, gradients, "unscales before all gradients are there");
    if (updated_) throw Wrong{"unscales after update, by another scale"};
    gradients.unscaled = true;
  }

  void clip(const Call& call, Gradients& gradients) {
    need_all(call, gradients, "clips before all gradients are there");
    if (stepped_.count(call.optimizer) > 0) throw Wrong{"clips after the step that it is for"};
    if (plan_.scaled && !gradients.unscaled) {
      throw Wrong{"clips scaled gradients, so the limit means another norm"};
    }
    gradients.clipped = true;
  }

  void step(const Call& call, Gradients& gradients) {
    need_all(call, gradients, "steps before all gradients are there");
    if (gradients.from.size() > losses_of_.at(call.optimizer).size()) {
      throw Wrong{"steps with gradients that an earlier iteration left behind"};
    }
    if (clips_ && !gradients.clipped) throw Wrong{"steps before the gradients are clipped"};
    if (updated_) throw Wrong{"updates the scaler before the step"};
    stepped_.insert(call.optimizer);
  }

  void update() {
    if (stepped_ != steps_) throw Wrong{"updates the scaler before every optimizer has stepped"};
    updated_ = true;
    for (auto& [optimizer, each] : gradients_) each.unscaled = each.clipped = false;
  }

  const StepPlan& plan_;
  std::map<int, std::set<int>> losses_of_;
  std::set<int> steps_;
  bool has_forward_ = false, clips_ = false;

  std::map<int, Gradients> gradients_;
  std::map<int, int> forward_;
  std::set<int> stepped_;
  bool updated_ = false;
  int iteration_ = 1;
};

}  // namespace

std::string mistake_in(const StepPlan& plan, const std::vector<int>& order) {
  Machine machine(plan);
  try {
    machine.iterate(order);
    machine.iterate(order);
  } catch (const Wrong& wrong) {
    return wrong.what;
  }
  return "";
}

}  // namespace gradlab::drills
