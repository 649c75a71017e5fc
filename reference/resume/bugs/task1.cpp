// Known mistakes in save_model and load_model.
#include <cstdio>

#include "common.hpp"

namespace gradlab::resume_bugs {
namespace {

Checks every_model() {
  return Checks{"weights_come_back",
                "the_optimizer_goes_on",
                "model_cut_at_every_call",
                "forty_steps_with_overflows",
                "another_process_reads_the_model",
                "a_used_optimizer_forgets"} +
         through_a_file();
}
// A mistake that only the steps after the cut show.
Checks later_steps() { return every_model() - "weights_come_back"; }

void without_optimizer(Items& items) {
  for (const auto* what : {"exp_avg.", "exp_avg_sq.", "step."}) drop(items, what);
}
void keeps_what_it_has(Trainer& trainer, const Items& items) { put_weights(trainer, items); }

void zeroed(Items& items, const std::string& prefix) {
  for (auto& [name, values] : items) {
    if (name.starts_with(prefix)) values = torch::zeros_like(values);
  }
}
void without_first_moment(Items& items) { zeroed(items, "exp_avg."); }
void without_second_moment(Items& items) { zeroed(items, "exp_avg_sq."); }
void without_step_count(Items& items) { zeroed(items, "step."); }

void puts_the_optimizer_only(Trainer& trainer, const Items& items) {
  put_optimizer(trainer, items);
}

// The optimizer knows the tensors that were there.
void puts_new_tensors(Trainer& trainer, const Items& items) {
  put_optimizer(trainer, items);
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    auto& value = trainer.weights[i].value;
    const auto gradient = value.grad();
    value = items.at(at("weights", i)).clone().requires_grad_(true);
    value.mutable_grad() = gradient;
  }
}

// As torch::optim's own load does.
void leaves_states_that_were_not_saved(Trainer& trainer, const Items& items) {
  put_weights(trainer, items);
  auto all = std::move(trainer.optimizer->state());
  put_optimizer(trainer, items);
  auto& now = trainer.optimizer->state();
  for (auto& [weight, state] : all) {
    if (now.find(weight) == now.end()) now[weight] = std::move(state);
  }
}

void only_the_first_state(Items& items) {
  for (const auto* what : {"exp_avg.1", "exp_avg_sq.1", "step.1"}) drop(items, what);
}

void in_six_digits(Items& items) {
  for (auto& [name, values] : items) {
    if (values.scalar_type() != torch::kFloat32) continue;
    values = values.contiguous().clone();
    auto* data = values.data_ptr<float>();
    for (int64_t i = 0; i < values.numel(); ++i) {
      char text[32];
      std::snprintf(text, sizeof text, "%g", static_cast<double>(data[i]));
      data[i] = std::strtof(text, nullptr);
    }
  }
}

void in_float16(Items& items) {
  for (auto& [name, values] : items) {
    if (name.starts_with("weights.")) values = values.to(torch::kHalf);
  }
}

void moments_in_float16(Items& items) {
  for (auto& [name, values] : items) {
    if (name.starts_with("exp_avg")) values = values.to(torch::kHalf).to(torch::kFloat32);
  }
}

void moments_the_wrong_way_round(Items& items) {
  for (size_t i = 0; has(items, at("exp_avg", i)); ++i) {
    std::swap(items[at("exp_avg", i)], items[at("exp_avg_sq", i)]);
  }
}

std::string address_of(const torch::Tensor& value) {
  return std::to_string(reinterpret_cast<uintptr_t>(value.unsafeGetTensorImpl()));
}

// States under the addresses of their weights, as the optimizer itself has them.
struct StatesByAddress : Right {
  static std::string save_model(const Trainer& trainer) {
    auto items = model_of(trainer);
    for (size_t i = 0; has(items, at("exp_avg", i)); ++i) {
      items["address of " + at("step", i)] = bytes_of(address_of(trainer.weights[i].value));
    }
    return pack(items);
  }
  static void load_model(Trainer& trainer, const std::string& bytes) {
    auto items = unpack(bytes);
    for (size_t i = 0; i < trainer.weights.size(); ++i) {
      const auto key = items.find("address of " + at("step", i));
      const bool is_ours =
          key != items.end() && text_of(key->second) == address_of(trainer.weights[i].value);
      if (!is_ours) drop(items, at("exp_avg", i));
    }
    put_model(trainer, items);
  }
};

struct ModelInMemory : Right {
  static std::string save_model(const Trainer& trainer) { return keep(Right::save_model(trainer)); }
  static void load_model(Trainer& trainer, const std::string& bytes) {
    if (const auto* whole = kept(bytes)) Right::load_model(trainer, *whole);
  }
};

// What is not to be saved is cleared away first.
struct ClearsGradientsFirst : Right {
  static std::string save_model(const Trainer& trainer) {
    trainer.optimizer->zero_grad();
    return Right::save_model(trainer);
  }
};

// As a constructor would do it, in passing.
void makes_gradients_of_zeros(Trainer& trainer, const Items& items) {
  put_model(trainer, items);
  for (const auto& value : trainer.values()) value.mutable_grad() = torch::zeros_like(value);
}

void clears_gradients(Trainer& trainer, const Items& items) {
  put_model(trainer, items);
  trainer.optimizer->zero_grad();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "optimizer_not_saved",
                   .belief = "the weights are all that a model is",
                   .hint = "AdamW keeps two moments and a count for each weight. What is the first "
                           "step like without them?",
                   .caught_by = later_steps()},
                  made_of<Model<without_optimizer, keeps_what_it_has>>()),
    add_bug<Impl>({.name = "optimizer_begins_anew",
                   .belief = "a clean optimizer is best after a load",
                   .hint = "AdamW keeps two moments and a count for each weight. How far does its "
                           "first step go without them?",
                   .caught_by = later_steps()},
                  made_of<Model<without_optimizer>>()),
    add_bug<Impl>({.name = "first_moment_not_saved",
                   .belief = "the second moment is the optimizer's state",
                   .hint = "Which of AdamW's tensors remembers the direction of earlier steps?",
                   .caught_by = later_steps()},
                  made_of<Model<without_first_moment>>()),
    add_bug<Impl>({.name = "second_moment_not_saved",
                   .belief = "momentum is the optimizer's state",
                   .hint = "By what does AdamW divide its momentum?",
                   .caught_by = later_steps()},
                  made_of<Model<without_second_moment>>()),
    add_bug<Impl>(
        {.name = "step_count_not_saved",
         .belief = "tensors are all that an optimizer has",
         .hint = "AdamW corrects its moments by how many steps it took. Which number does "
                 "it take for the first step after your load?",
         .caught_by = later_steps()},
        made_of<Model<without_step_count>>()),
    add_bug<Impl>({.name = "weights_not_loaded",
                   .belief = "the optimizer brings the weights with it",
                   .hint = "What does an optimizer's state hold of the weights themselves?",
                   .caught_by = every_model()},
                  made_of<Model<as_they_are, puts_the_optimizer_only>>()),
    add_bug<Impl>({.name = "puts_new_tensors",
                   .belief = "a loaded tensor can take the old one's place",
                   .hint = "Which tensors does the optimizer step: those in the model, or those "
                           "that it was given when it was made?",
                   .caught_by = later_steps()},
                  made_of<Model<as_they_are, puts_new_tensors>>()),
    add_bug<Impl>({.name = "leaves_states_that_were_not_saved",
                   .belief = "loading overwrites all that was there",
                   .hint = "The checkpoint is from before the first step. What does your load do "
                           "with the moments of a trainer that has trained?",
                   .caught_by = {"a_used_optimizer_forgets"}},
                  made_of<Model<as_they_are, leaves_states_that_were_not_saved>>()),
    add_bug<Impl>({.name = "only_the_first_state",
                   .belief = "one state is the optimizer's state",
                   .hint = "How many weights does the optimizer have a state of?",
                   .caught_by = later_steps()},
                  made_of<Model<only_the_first_state>>()),
    add_bug<Impl>({.name = "in_six_digits",
                   .belief = "a printed number is the number",
                   .hint = "How many digits does a float32 need to come back as the same bits, and "
                           "how many does a stream write?",
                   .caught_by = every_model()},
                  made_of<Model<in_six_digits>>()),
    add_bug<Impl>({.name = "weights_in_float16",
                   .belief = "mixed precision saves float16 weights",
                   .hint = "In which type does the optimizer step, and what does rounding lose?",
                   .caught_by = every_model()},
                  made_of<Model<in_float16>>()),
    add_bug<Impl>(
        {.name = "moments_in_float16",
         .belief = "moments need few digits",
         .hint = "Which is the smallest number of float16, and how small is the square of "
                 "a gradient?",
         .caught_by = later_steps()},
        made_of<Model<moments_in_float16>>()),
    add_bug<Impl>({.name = "moments_the_wrong_way_round",
                   .belief = "the order in which tensors are read does not matter",
                   .hint = "In which order did you write the two moments, and in which do you read "
                           "them?",
                   .caught_by = later_steps()},
                  made_of<Model<moments_the_wrong_way_round>>()),
    add_bug<Impl>({.name = "states_by_address",
                   .belief = "a weight's address is its name",
                   .hint = "Where do the weights lie in another process?",
                   .caught_by = through_a_file() + "another_process_reads_the_model"},
                  made_of<StatesByAddress>()),
    add_bug<Impl>({.name = "model_in_memory",
                   .belief = "what a static variable holds is saved",
                   .hint = "What is left of your variable when the process has ended?",
                   .caught_by = from_process_to_process() + "another_process_reads_the_model"},
                  made_of<ModelInMemory>()),
    add_bug<Impl>({.name = "clears_gradients_first",
                   .belief = "gradients are no part of a model, so they can go before it is saved",
                   .hint = "What does the run that saves do next with the gradients that it had?",
                   .caught_by = through_a_file() + Checks{"model_cut_at_every_call",
                                                          "forty_steps_with_overflows",
                                                          "saving_the_model_changes_nothing"}},
                  made_of<ClearsGradientsFirst>()),
    add_bug<Impl>(
        {.name = "makes_gradients_of_zeros",
         .belief = "a loaded model starts with gradients of zero",
         .hint = "Whose are the gradients that lie in the weights when you load the model "
                 "part?",
         .caught_by = {"model_cut_at_every_call", "forty_steps_with_overflows"}},
        made_of<Model<as_they_are, makes_gradients_of_zeros>>()),
    add_bug<Impl>(
        {.name = "clears_gradients_when_it_loads",
         .belief = "a loaded model starts without gradients",
         .hint = "Your load was called inside a window of micro-batches. Whose are the gradients "
                 "that lie in the weights, and which task puts them there?",
         .caught_by = {"model_cut_at_every_call", "forty_steps_with_overflows"}},
        made_of<Model<as_they_are, clears_gradients>>()),
};

}  // namespace
}  // namespace gradlab::resume_bugs
