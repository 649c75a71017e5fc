#include "experiments/step_order/run.hpp"

#include <ATen/autocast_mode.h>
#include <c10/util/Type.h>

#include <new>
#include <typeinfo>

namespace gradlab::step_order_runs {
namespace {

namespace autocast = at::autocast;

bool autocast_is_on() { return autocast::is_autocast_enabled(torch::kCPU); }

// Tells of a step that was not the scaler's.
class TracedSgd : public torch::optim::SGD {
 public:
  TracedSgd(const std::vector<torch::optim::OptimizerParamGroup>& groups,
            torch::optim::SGDOptions options, std::shared_ptr<Watch> watch)
      : SGD(groups, std::move(options)), watch_(std::move(watch)) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    if (!watch_->trace.inside_scaler_step()) watch_->trace.line("optimizer.step");
    return SGD::step(std::move(closure));
  }

 private:
  std::shared_ptr<Watch> watch_;
};

std::unique_ptr<torch::optim::SGD> optimizer_of(const Case& in,
                                                const std::vector<torch::Tensor>& weights,
                                                const std::shared_ptr<Watch>& watch) {
  const auto& numbers = in.all_numbers();
  torch::optim::SGDOptions options(in.number("lr"));
  options.momentum(numbers.contains("momentum") ? numbers.at("momentum") : 0);
  const auto first = in.all_integers().contains("weights_in_first_group")
                         ? in.integer("weights_in_first_group")
                         : static_cast<int64_t>(weights.size());
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<torch::Tensor>(weights.begin(), weights.begin() + first));
  if (first < static_cast<int64_t>(weights.size())) {
    groups.emplace_back(std::vector<torch::Tensor>(weights.begin() + first, weights.end()));
  }
  return std::make_unique<TracedSgd>(groups, options, watch);
}

amp::GradScaler scaler_of(const Case& in) {
  amp::GradScalerOptions options;
  const auto& integers = in.all_integers();
  if (integers.contains("init_scale")) {
    options.init_scale = static_cast<double>(in.integer("init_scale"));
    options.growth_interval = in.integer("growth_interval");
  }
  return amp::GradScaler(options);
}

std::string type_of(const torch::Tensor& out) {
  switch (out.scalar_type()) {
    case torch::kHalf:
      return "float16";
    case torch::kBFloat16:
      return "bfloat16";
    default:
      return "float32";
  }
}

std::string in_words(const std::set<std::string>& types) {
  std::string words;
  for (const auto& type : types) words += (words.empty() ? "" : " and ") + type;
  return words.empty() ? "no backward" : words;
}

void tell_of_backward(const torch::Tensor& out, const std::shared_ptr<Watch>& watch) {
  if (!out.requires_grad()) return;
  out.register_hook([watch, type = type_of(out)](const torch::Tensor&) {
    watch->types.insert(type);
    if (autocast_is_on()) ++watch->inside_region;
    watch->trace.line(autocast_is_on() ? "backward (autocast is on)" : "backward");
  });
}

torch::Tensor in_a_row(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> flat;
  for (const auto& tensor : tensors) flat.push_back(tensor.detach().flatten());
  return torch::cat(flat).clone();
}

}  // namespace

// Linear layers without bias, tanh between them: no corner where a rounding changes a gradient.
step_order::Model model_of(const Case& in, const std::string& name,
                           const std::shared_ptr<Watch>& watch) {
  step_order::Model model;
  for (const auto& weight : in.copies(name)) {
    model.weights.push_back(weight.detach().requires_grad_(true));
  }
  watch->trace.watch(model.weights);
  model.forward = [weights = model.weights, watch](const torch::Tensor& x) {
    auto out = x;
    for (size_t i = 0; i < weights.size(); ++i) {
      out = torch::linear(i == 0 ? out : torch::tanh(out), weights[i]);
    }
    watch->trace.line("forward in " + type_of(out));
    tell_of_backward(out, watch);
    return out;
  };
  return model;
}

Trainee::Trainee(const Case& in, const std::string& name, const std::shared_ptr<Watch>& watch)
    : model(model_of(in, name, watch)), optimizer(optimizer_of(in, model.weights, watch)) {}

torch::Tensor Trainee::weights() const { return in_a_row(model.weights); }

torch::Tensor Trainee::momentum() const {
  std::vector<torch::Tensor> buffers;
  for (const auto& weight : model.weights) {
    const auto at = optimizer->state().find(weight.unsafeGetTensorImpl());
    const auto* state = at == optimizer->state().end()
                            ? nullptr
                            : static_cast<torch::optim::SGDParamState*>(at->second.get());
    const bool has_buffer = state != nullptr && state->momentum_buffer().defined();
    buffers.push_back(has_buffer ? state->momentum_buffer() : torch::zeros_like(weight));
  }
  return in_a_row(buffers);
}

std::vector<step_order::Batch> batches_of(const Case& in, const std::string& inputs,
                                          const std::string& targets) {
  const auto x = in.copies(inputs), y = in.copies(targets);
  std::vector<step_order::Batch> batches;
  for (size_t i = 0; i < x.size(); ++i) batches.push_back({x[i], y.at(i)});
  return batches;
}

Run::Run(const Case& in, std::string unit, const std::vector<std::string>& noted)
    : scaler_(scaler_of(in)), unit_(std::move(unit)) {
  for (const auto& what : noted) notes_[what + "_after_" + unit_];
  for (const std::string what : {"scale", "growth_tracker"}) notes_[what + "_after_" + unit_];
}

bool Run::call(const std::function<void()>& body) {
  const auto name = unit_.substr(0, unit_.size() - 1) + " " + std::to_string(calls_++);
  watch_->trace.line("-- " + name);
  try {
    body();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (what.find("DefaultCPUAllocator") != std::string::npos) throw;
    ended_ = name + " threw " + c10::demangle(typeid(error).name()) + ": " + first_sentence(what);
  }
  watch_->trace.catch_up();
  if (autocast_is_on()) ++left_autocast_on_;
  return ended_ == kAllReturn;
}

void Run::note_scaler() {
  note("scale", scaler_.get_scale());
  note("growth_tracker", static_cast<double>(scaler_.growth_tracker()));
}

void Run::note(const std::string& what, const torch::Tensor& value) {
  notes_[what + "_after_" + unit_].push_back(value);
}

void Run::note(const std::string& what, double value) {
  note(what, torch::full({}, value, torch::kFloat64));
}

void Run::note(const Trainee& trainee, const std::string& of) {
  note("weights" + of, trainee.weights());
  note("momentum" + of, trainee.momentum());
}

Observation Run::seen() const {
  Observation all;
  for (const auto& [name, tensors] : notes_) all.add(name, tensors);
  return all.add("calls_that_left_autocast_on", static_cast<double>(left_autocast_on_))
      .add("backwards_inside_the_region", static_cast<double>(watch_->inside_region))
      .add_word("type_of_model_output", in_words(watch_->types))
      .add_word("the_calls", ended_)
      .add_word(Observation::kTrace, watch_->trace.text());
}

}  // namespace gradlab::step_order_runs
