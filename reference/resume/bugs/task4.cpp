// Known mistakes in save_window and load_window.
#include "common.hpp"

namespace gradlab::resume_bugs {
namespace {

Checks every_window() {
  return Checks{"gathered_gradients_come_back",     "the_count_comes_back",
                "window_cut_at_every_call",         "an_overflow_before_the_cut_counts",
                "another_process_reads_the_window", "an_empty_window_clears_a_used_one"} +
         through_a_file();
}
Checks the_gradients() {
  return every_window() - "the_count_comes_back" - "an_empty_window_clears_a_used_one";
}
// What divides keeps inf.
Checks finite_gradients() { return the_gradients() - "an_overflow_before_the_cut_counts"; }

void without_all(Items& items) {
  items.clear();
  items["gathered"] = scalar(0);
}
void without_gradients(Items& items) { drop(items, "gradient."); }
void without_count(Items& items) { drop(items, "gathered"); }
void only_the_first_gradient(Items& items) { drop(items, "gradient.1"); }

// What `change` makes of each gradient.
template <torch::Tensor (*change)(const torch::Tensor& gradient)>
void changed(Items& items) {
  for (auto& [name, values] : items) {
    if (name.starts_with("gradient.")) values = change(values);
  }
}
torch::Tensor finite(const torch::Tensor& gradient) {
  return torch::nan_to_num(gradient, 0.0, 0.0, 0.0);
}

struct SavesTrueGradients : Right {
  static std::string save_window(const Trainer& trainer) {
    auto items = window_of(trainer);
    for (auto& [name, values] : items) {
      if (name.starts_with("gradient.")) values = values / trainer.scaler.get_scale();
    }
    return pack(items);
  }
};
struct UnscalesBeforeItSaves : Right {
  static std::string save_window(const Trainer& trainer) {
    for (const auto& value : trainer.values()) {
      if (value.grad().defined()) value.mutable_grad().div_(trainer.scaler.get_scale());
    }
    return Right::save_window(trainer);
  }
};
struct TakesTheGradientsAway : Right {
  static std::string save_window(const Trainer& trainer) {
    const auto bytes = Right::save_window(trainer);
    trainer.optimizer->zero_grad();
    return bytes;
  }
};

void adds_to_what_is_there(Trainer& trainer, const Items& items) {
  const auto before = window_of(trainer);
  put_window(trainer, items);
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    if (!has(before, at("gradient", i))) continue;
    auto& gradient = trainer.weights[i].value.mutable_grad();
    const auto& old = before.at(at("gradient", i));
    gradient = gradient.defined() ? gradient + old : old;
  }
}

void leaves_gradients_where_none_were_saved(Trainer& trainer, const Items& items) {
  auto all = window_of(trainer);
  for (const auto& [name, values] : items) all[name] = values;
  put_window(trainer, all);
}

void counts_one_less(Items& items) {
  items["gathered"] = scalar(std::max(number(items, "gathered") - 1, 0.0));
}

struct FullWindowIsOver : Right {
  static std::string save_window(const Trainer& trainer) {
    auto items = window_of(trainer);
    if (trainer.window.gathered == trainer.window.size) without_all(items);
    return pack(items);
  }
};

struct WindowInMemory : Right {
  static std::string save_window(const Trainer& trainer) {
    return keep(Right::save_window(trainer));
  }
  static void load_window(Trainer& trainer, const std::string& bytes) {
    if (const auto* whole = kept(bytes)) Right::load_window(trainer, *whole);
  }
};

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "window_begins_anew",
                   .belief = "a window that was cut is gathered again",
                   .hint = "The order of the data has gone on. Which examples does the new window "
                           "take, and which never count?",
                   .caught_by = every_window() - "an_empty_window_clears_a_used_one"},
                  made_of<Window<without_all>>()),
    add_bug<Impl>({.name = "gradients_not_saved",
                   .belief = "gradients are computed anew at every step",
                   .hint = "Which micro-batches of this window were computed before the cut?",
                   .caught_by = the_gradients()},
                  made_of<Window<without_gradients>>()),
    add_bug<Impl>({.name = "count_not_saved",
                   .belief = "the gradients tell how many micro-batches they are from",
                   .hint = "How many micro-batches does the window wait for after your load?",
                   .caught_by = every_window()},
                  made_of<Window<without_count>>()),
    add_bug<Impl>(
        {.name = "counts_one_less",
         .belief = "micro-batches are counted from 0, so the last one has the count less 1",
         .hint = "How many micro-batches had been gathered when you saved, and how many are "
                 "there when you have loaded?",
         .caught_by = every_window() - "an_empty_window_clears_a_used_one"},
        made_of<Window<counts_one_less>>()),
    add_bug<Impl>({.name = "full_window_is_over",
                   .belief = "a window that is full has had its step",
                   .hint = "A cut may come between the last micro-batch and the step. How many "
                           "micro-batches are gathered there, and what do you save?",
                   .caught_by = Checks{"window_cut_at_every_call"} + through_a_file()},
                  made_of<FullWindowIsOver>()),
    add_bug<Impl>({.name = "only_the_first_gradient",
                   .belief = "one gradient is the gradient",
                   .hint = "How many weights have a gradient?",
                   .caught_by = finite_gradients()},
                  made_of<Window<only_the_first_gradient>>()),
    add_bug<Impl>(
        {.name = "saves_true_gradients",
         .belief = "a scale is no part of a gradient, so it is divided away",
         .hint = "The next micro-batch adds gradients that are multiplied by the scale. To "
                 "which ones?",
         .caught_by = finite_gradients()},
        made_of<SavesTrueGradients>()),
    add_bug<Impl>({.name = "unscales_before_it_saves",
                   .belief = "gradients are unscaled before anyone looks at them",
                   .hint = "What does the run that saves do with gradients that were divided once, "
                           "when its step divides them again?",
                   .caught_by = finite_gradients() + "saving_the_window_changes_nothing"},
                  made_of<UnscalesBeforeItSaves>()),
    add_bug<Impl>({.name = "takes_the_gradients_away",
                   .belief = "what is saved is no longer needed here",
                   .hint = "What does the run that saves do next with the gradients that it had?",
                   .caught_by = {"saving_the_window_changes_nothing"}},
                  made_of<TakesTheGradientsAway>()),
    add_bug<Impl>({.name = "cleans_what_is_not_finite",
                   .belief = "inf is not to be kept",
                   .hint = "Would the run that was not cut have skipped this window? Who tells the "
                           "scaler now?",
                   .caught_by = {"an_overflow_before_the_cut_counts"}},
                  made_of<Window<changed<finite>>>()),
    add_bug<Impl>({.name = "adds_to_what_is_there",
                   .belief = "gradients add up, also loaded ones",
                   .hint = "Whose gradients lie in the trainer that you load into?",
                   .caught_by = {"an_empty_window_clears_a_used_one", "a_file_resumes_the_run"}},
                  made_of<Window<as_they_are, adds_to_what_is_there>>()),
    add_bug<Impl>(
        {.name = "leaves_gradients_where_none_were_saved",
         .belief = "a gradient that was not saved needs no load",
         .hint = "The checkpoint is from between two windows. What does the next backward "
                 "add to?",
         .caught_by = {"an_empty_window_clears_a_used_one"}},
        made_of<Window<as_they_are, leaves_gradients_where_none_were_saved>>()),
    add_bug<Impl>({.name = "window_in_memory",
                   .belief = "what a static variable holds is saved",
                   .hint = "What is left of your variable when the process has ended?",
                   .caught_by = from_process_to_process() + "another_process_reads_the_window"},
                  made_of<WindowInMemory>()),
};

}  // namespace
}  // namespace gradlab::resume_bugs
