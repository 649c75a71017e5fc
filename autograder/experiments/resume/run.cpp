#include "experiments/resume/run.hpp"

#include <sstream>
#include <stdexcept>

namespace gradlab::resume_runs {
namespace {

// The first archive that is read sets up TorchScript, which takes 60 ms: done at program start, no
// forked child pays it.
[[maybe_unused]] const bool kWarm = [] {
  torch::Tensor value = torch::ones({1}, torch::requires_grad());
  torch::optim::AdamW optimizer({value});
  std::stringstream stream;
  torch::save(optimizer, stream);
  torch::load(optimizer, stream);
  return true;
}();

constexpr const char* kLists[] = {"example", "loss",  "weights", "scale",
                                  "tracker", "steps", "gathered"};
constexpr int64_t kUsedCalls = 7;  // an odd number: inside a window of two

bool is_disabled(const Case& in) { return in.all_integers().contains("disabled"); }

Trainer make(const Case& in, uint64_t seed, amp::GradScalerOptions options = {}) {
  options.enabled = !is_disabled(in);
  return {weights_of(in, "weights"), seed, in.integer("window"), options};
}

void lose_model(Trainer& trainer, Trainer& other) {
  const at::NoGradGuard no_grad;
  auto optimizer = std::make_unique<torch::optim::AdamW>(trainer.values());
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    const auto& value = trainer.weights[i].value;
    const auto& from = other.weights[i].value;
    value.copy_(from);
    const auto at = other.optimizer->state().find(from.unsafeGetTensorImpl());
    if (at == other.optimizer->state().end()) continue;
    optimizer->state()[value.unsafeGetTensorImpl()] = at->second->clone();
  }
  trainer.optimizer = std::move(optimizer);
}

void lose_scaler(Trainer& trainer, Trainer& other) {
  trainer.scaler = std::move(other.scaler);
  trainer.schedule = other.schedule;
}

void lose_random(Trainer& trainer, Trainer& other) {
  trainer.noise = other.noise;
  trainer.order = other.order;
}

void lose_window(Trainer& trainer, Trainer& other) {
  trainer.window = other.window;
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    trainer.weights[i].value.mutable_grad() = other.weights[i].value.grad();
  }
}

}  // namespace

const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames{"encoder.weight", "decoder.weight", "head.weight",
                                               "tail.weight"};
  return kNames;
}

std::vector<resume::Weight> weights_of(const Case& in, const std::string& list) {
  std::vector<resume::Weight> weights;
  for (const auto& value : in.copies(list)) {
    weights.push_back({names().at(weights.size()), value.detach().requires_grad_(true)});
  }
  return weights;
}

Trainer trainer_of(const Case& in) {
  amp::GradScalerOptions options;
  options.init_scale = static_cast<double>(in.integer("init_scale"));
  options.growth_interval = in.integer("growth_interval");
  options.growth_factor = in.number("growth_factor");
  options.backoff_factor = in.number("backoff_factor");
  return make(in, static_cast<uint64_t>(in.integer("seed")), options);
}

Trainer new_trainer_of(const Case& in) {
  return make(in, static_cast<uint64_t>(in.integer("seed")));
}

Trainer used_trainer_of(const Case& in) {
  amp::GradScalerOptions options;
  options.init_scale = 16;
  options.growth_interval = 5;
  auto trainer = make(in, static_cast<uint64_t>(in.integer("seed")) + 1, options);
  Diary().advance_to(kUsedCalls, trainer, data_of(in));
  return trainer;
}

Data data_of(const Case& in) {
  const auto x = in.copies("inputs"), y = in.copies("targets");
  Data data;
  for (size_t i = 0; i < x.size(); ++i) data.push_back({x[i], y.at(i)});
  return data;
}

const Part& part_of(const Case& in) {
  static const std::map<std::string, Part> kParts{
      {"model",
       {[](const Impl& impl, const Trainer& trainer) { return impl.save_model(trainer); },
        [](const Impl& impl, Trainer& trainer, const std::string& bytes) {
          impl.load_model(trainer, bytes);
        },
        lose_model}},
      {"scaler",
       {[](const Impl& impl, const Trainer& trainer) { return impl.save_scaler(trainer); },
        [](const Impl& impl, Trainer& trainer, const std::string& bytes) {
          impl.load_scaler(trainer, bytes);
        },
        lose_scaler}},
      {"random",
       {[](const Impl& impl, const Trainer& trainer) { return impl.save_random(trainer); },
        [](const Impl& impl, Trainer& trainer, const std::string& bytes) {
          impl.load_random(trainer, bytes);
        },
        lose_random}},
      {"window",
       {[](const Impl& impl, const Trainer& trainer) { return impl.save_window(trainer); },
        [](const Impl& impl, Trainer& trainer, const std::string& bytes) {
          impl.load_window(trainer, bytes);
        },
        lose_window}},
  };
  return kParts.at(in.word("part"));
}

torch::Tensor row_of_weights(const Trainer& trainer) {
  std::vector<torch::Tensor> flat;
  for (const auto& weight : trainer.weights) flat.push_back(weight.value.detach().flatten());
  return torch::cat(flat).clone();
}

void Diary::note(const std::string& what, double value) {
  lists_[what].push_back(torch::full({}, value, torch::kFloat64));
}

void Diary::advance(Trainer& trainer, const Data& data) {
  const auto call = resume::advance(trainer, data);
  ++calls_;
  note("example", static_cast<double>(call.example));
  note("loss", call.loss);
  lists_["weights"].push_back(row_of_weights(trainer));
  note("scale", trainer.scaler.get_scale());
  note("tracker", static_cast<double>(trainer.scaler.growth_tracker()));
  note("steps", static_cast<double>(trainer.schedule.steps));
  note("gathered", static_cast<double>(trainer.window.gathered));
}

void Diary::advance_to(int64_t end, Trainer& trainer, const Data& data) {
  while (calls_ < end) advance(trainer, data);
}

void Diary::add_to(Observation& seen, const std::string& ending) const {
  for (const std::string what : kLists) {
    const auto list = lists_.find(what);
    seen.add(what + "_" + ending,
             list == lists_.end() ? std::vector<torch::Tensor>() : list->second);
  }
}

void add_run_without_a_cut(const Case& in, Observation& seen) {
  auto trainer = trainer_of(in);
  Diary diary;
  diary.advance_to(in.integer("calls"), trainer, data_of(in));
  diary.add_to(seen, "without_a_cut");
}

}  // namespace gradlab::resume_runs
