// The step_order lab's experiments: each runs one implementation's step over all batches of a case
// and notes what can be seen after every call. They know no expected value.
#include <algorithm>
#include <memory>

#include "experiments/step_order/run.hpp"
#include "runner/lab.hpp"
#include "step_order.hpp"

namespace {

using namespace gradlab::step_order_runs;
using gradlab::Case;
using gradlab::Observation;
using step_order::Impl;

Observation mixed_steps(const Impl& impl, const Case& in) {
  Run run(in, "steps", {"weights", "momentum"});
  const Trainee trainee(in, "weights", run.watch());
  for (const auto& batch : batches_of(in)) {
    const bool returned = run.call([&] {
      impl.mixed_step(trainee.model, *trainee.optimizer, run.scaler(), batch,
                      in.number("max_norm"));
    });
    if (!returned) break;
    run.note_scaler();
    run.note(trainee);
  }
  return run.seen();
}

// Windows of `window` micro-batches; the last one has what is left.
Observation accumulated_steps(const Impl& impl, const Case& in) {
  Run run(in, "windows", {"weights", "momentum"});
  const Trainee trainee(in, "weights", run.watch());
  const auto batches = batches_of(in);
  const auto size = static_cast<size_t>(in.integer("window"));
  for (size_t from = 0; from < batches.size(); from += size) {
    const auto begin = batches.begin() + static_cast<ptrdiff_t>(from);
    const auto end =
        batches.begin() + static_cast<ptrdiff_t>(std::min(from + size, batches.size()));
    const bool returned = run.call([&] {
      impl.accumulated_step(trainee.model, *trainee.optimizer, run.scaler(), {begin, end},
                            in.number("max_norm"));
    });
    if (!returned) break;
    run.note_scaler();
    run.note(trainee);
  }
  return run.seen();
}

Observation two_optimizer_steps(const Impl& impl, const Case& in) {
  Run run(in, "steps",
          {"weights_of_first", "momentum_of_first", "weights_of_second", "momentum_of_second"});
  const Trainee first(in, "weights_of_first", run.watch());
  const Trainee second(in, "weights_of_second", run.watch());
  const auto batches = batches_of(in, "inputs_of_first", "targets_of_first");
  const auto others = batches_of(in, "inputs_of_second", "targets_of_second");
  for (size_t i = 0; i < batches.size(); ++i) {
    const bool returned = run.call([&] {
      impl.two_optimizer_step({first.model, *first.optimizer, batches[i]},
                              {second.model, *second.optimizer, others.at(i)}, run.scaler(),
                              in.number("max_norm"));
    });
    if (!returned) break;
    run.note_scaler();
    run.note(first, "_of_first");
    run.note(second, "_of_second");
  }
  return run.seen();
}

// Multiplies the learning rate of every group by `decay` each time it advances.
class Decay : public torch::optim::LRScheduler {
 public:
  Decay(torch::optim::Optimizer& optimizer, double decay, Trace& trace)
      : LRScheduler(optimizer), decay_(decay), trace_(trace) {}

 private:
  std::vector<double> get_lrs() override {
    trace_.line("schedule.step");
    auto rates = get_current_lrs();
    for (auto& rate : rates) rate *= decay_;
    return rates;
  }

  double decay_;
  Trace& trace_;
};

std::shared_ptr<step_order::Progress> progress_of(const step_order::Model& model) {
  auto progress = std::make_shared<step_order::Progress>();
  for (const auto& weight : model.weights) progress->average.push_back(weight.detach().clone());
  return progress;
}

torch::Tensor average_of(const step_order::Progress& progress) {
  std::vector<torch::Tensor> flat;
  for (const auto& tensor : progress.average) flat.push_back(tensor.flatten());
  return flat.empty() ? torch::empty({0}) : torch::cat(flat).clone();
}

Observation scheduled_steps(const Impl& impl, const Case& in) {
  Run run(in, "steps", {"weights", "momentum", "returned", "learning_rate", "updates", "average"});
  const Trainee trainee(in, "weights", run.watch());
  Decay schedule(*trainee.optimizer, in.number("decay"), run.watch()->trace);
  const auto progress = progress_of(trainee.model);
  run.watch()->trace.watch(std::shared_ptr<const int64_t>(progress, &progress->updates));
  for (const auto& batch : batches_of(in)) {
    bool stepped = false;
    const bool returned = run.call([&] {
      stepped = impl.scheduled_step(trainee.model, *trainee.optimizer, run.scaler(), schedule,
                                    *progress, batch, in.number("max_norm"));
    });
    if (!returned) break;
    run.note_scaler();
    run.note(trainee);
    run.note("returned", stepped ? 1 : 0);
    run.note("learning_rate", trainee.optimizer->param_groups().front().options().get_lr());
    run.note("updates", static_cast<double>(progress->updates));
    run.note("average", average_of(*progress));
  }
  return run.seen();
}

Observation training_run(const Impl& impl, const Case& in) {
  constexpr size_t kMostRecords = 400;  // of an answer that returns far too many
  Run run(in, "runs", {});
  const auto model = model_of(in, "weights", run.watch());
  std::vector<step_order::Record> records;
  run.call(
      [&] { records = impl.train(model, batches_of(in), in.number("lr"), in.number("max_norm")); });
  std::vector<torch::Tensor> losses, norms, scales, stepped;
  const auto value = [](double number) { return torch::full({}, number, torch::kFloat64); };
  for (size_t i = 0; i < std::min(records.size(), kMostRecords); ++i) {
    losses.push_back(value(records[i].loss));
    norms.push_back(value(records[i].norm));
    scales.push_back(value(records[i].scale));
    stepped.push_back(value(records[i].stepped ? 1 : 0));
  }
  std::vector<torch::Tensor> weights;
  for (const auto& weight : model.weights) weights.push_back(weight.detach());
  return run.seen()
      .add("number_of_records", static_cast<double>(records.size()))
      .add("loss_of_steps", losses)
      .add("norm_of_steps", norms)
      .add("scale_of_steps", scales)
      .add("stepped_of_steps", stepped)
      .add("weights_after_the_run", weights);
}

GRADLAB_EXPERIMENTS(step_order, mixed_steps, accumulated_steps, two_optimizer_steps,
                    scheduled_steps, training_run)

}  // namespace
