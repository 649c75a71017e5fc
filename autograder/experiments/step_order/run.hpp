// What every step_order experiment is made of: models and optimizers built from a case, a scaler,
// and a diary of what is seen after each call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "experiments/step_order/trace.hpp"
#include "protocol/case.hpp"
#include "protocol/observation.hpp"
#include "step_order.hpp"

namespace gradlab::step_order_runs {

// Seen during forward and backward. Shared with the model, so that a model that is kept by someone
// still has it.
struct Watch {
  Trace trace;
  std::set<std::string> types;  // of the model's outputs that backward went through
  int64_t inside_region = 0;    // backward passes with autocast on
};

// A model with an optimizer, from the tensors that the case holds under this name.
struct Trainee {
  Trainee(const Case& in, const std::string& name, const std::shared_ptr<Watch>& watch);
  torch::Tensor weights() const;   // in one row, a copy
  torch::Tensor momentum() const;  // zeros where there is none yet

  step_order::Model model;
  std::unique_ptr<torch::optim::SGD> optimizer;
};

step_order::Model model_of(const Case& in, const std::string& name,
                           const std::shared_ptr<Watch>& watch);
// One batch for each pair of tensors under these names.
std::vector<step_order::Batch> batches_of(const Case& in, const std::string& inputs = "inputs",
                                          const std::string& targets = "targets");

// One run: its scaler, its trace, and a tensor a call for each thing that is noted down.
class Run {
 public:
  // `unit` names the calls: "steps" or "windows". `noted` is what will be noted after each of them,
  // besides the scaler: there, if empty, also when the first call throws.
  Run(const Case& in, std::string unit, const std::vector<std::string>& noted);

  // Makes one call of what is run. An exception ends the run, false then: what was seen until then
  // stays, and the word "the_calls" tells it. (A task that is not started, and memory that has run
  // out, are no answers and pass through.)
  bool call(const std::function<void()>& body);
  static constexpr const char* kAllReturn = "every call to return";

  void note_scaler();
  void note(const std::string& what, const torch::Tensor& value);
  void note(const std::string& what, double value);
  // The weights and momentum of this model; `of` sets two models apart.
  void note(const Trainee& trainee, const std::string& of = "");

  Observation seen() const;

  const std::shared_ptr<Watch>& watch() { return watch_; }
  amp::GradScaler& scaler() { return scaler_; }

 private:
  std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
  amp::ObserverScope observed_{watch_->trace};
  amp::GradScaler scaler_;
  std::string unit_;
  int64_t calls_ = 0;
  std::string ended_ = kAllReturn;
  int64_t left_autocast_on_ = 0;
  std::map<std::string, std::vector<torch::Tensor>> notes_;
};

}  // namespace gradlab::step_order_runs
