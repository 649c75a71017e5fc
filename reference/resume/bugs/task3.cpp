// Known mistakes in save_random and load_random.
#include <algorithm>

#include "common.hpp"

namespace gradlab::resume_bugs {
namespace {

Checks every_random() {
  return Checks{"noise_goes_on",
                "order_goes_on_inside_an_epoch",
                "later_epochs_are_drawn_anew",
                "random_cut_at_every_call",
                "another_process_reads_the_generators",
                "a_used_order_forgets"} +
         through_a_file();
}
Checks the_noise() {
  return every_random() - "order_goes_on_inside_an_epoch" - "later_epochs_are_drawn_anew";
}
Checks the_order() { return every_random() - "noise_goes_on"; }

void without_noise(Items& items) { drop(items, "noise"); }
void without_order(Items& items) {
  for (const auto* what : {"generator", "epoch", "position"}) drop(items, what);
}
void without_generator(Items& items) { drop(items, "generator"); }
void without_all(Items& items) { items.clear(); }

// The seed is all that is taken from the generator's state.
void seeds_the_noise(Trainer& trainer, const Items& items) {
  put_random(trainer, items);
  trainer.noise.set_current_seed(trainer.noise.current_seed());
}

void position_begins_anew(Items& items) { items["position"] = scalar(0); }

void draws_the_epoch_again(Trainer& trainer, const Items& items) {
  put_random(trainer, items);
  auto& epoch = trainer.order.epoch;
  std::sort(epoch.begin(), epoch.end());
  std::shuffle(epoch.begin(), epoch.end(), trainer.order.generator);
}

void leaves_the_rest_of_the_epoch(Items& items) {
  items["epoch"] = torch::zeros({0}, torch::kInt64);
  items["position"] = scalar(0);
}

void one_example_twice(Items& items) {
  items["position"] = scalar(std::max(number(items, "position") - 1, 0.0));
}

void passes_over_one(Items& items) {
  const auto last = static_cast<double>(items.at("epoch").numel());
  items["position"] = scalar(std::min(number(items, "position") + 1, last));
}

void in_the_order_of_the_data(Items& items) {
  items["epoch"] = std::get<0>(items.at("epoch").sort());
}

void appends_to_the_epoch(Trainer& trainer, const Items& items) {
  const auto before = trainer.order.epoch;
  put_random(trainer, items);
  auto& epoch = trainer.order.epoch;
  epoch.insert(epoch.begin(), before.begin(), before.end());
}

void reseeds_by_the_position(Trainer& trainer, const Items& items) {
  put_random(trainer, items);
  const auto seed = 1000 + static_cast<uint64_t>(trainer.order.position);
  trainer.noise.set_current_seed(seed);
  trainer.order.generator.seed(seed);
}

struct LooksAtTheNextNoise : Right {
  static std::string save_random(const Trainer& trainer) {
    auto items = random_of(trainer);
    items["next"] = torch::randn({2}, trainer.noise);  // the two handles are of one generator
    return pack(items);
  }
};
struct LooksBeforeItSaves : Right {
  static std::string save_random(const Trainer& trainer) {
    const auto next = torch::randn({2}, trainer.noise);
    auto items = random_of(trainer);
    items["next"] = next;
    return pack(items);
  }
};

struct RandomInMemory : Right {
  static std::string save_random(const Trainer& trainer) {
    return keep(Right::save_random(trainer));
  }
  static void load_random(Trainer& trainer, const std::string& bytes) {
    if (const auto* whole = kept(bytes)) Right::load_random(trainer, *whole);
  }
};

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "noise_not_saved",
         .belief = "the order of the data is all that is random",
         .hint = "Which other generator draws in every micro-batch, and which numbers does "
                 "it draw after your load?",
         .caught_by = the_noise()},
        made_of<Random<without_noise>>()),
    add_bug<Impl>({.name = "noise_from_its_seed",
                   .belief = "a generator is its seed",
                   .hint = "How many numbers had been drawn from that seed before the cut?",
                   .caught_by = the_noise()},
                  made_of<Random<as_they_are, seeds_the_noise>>()),
    add_bug<Impl>(
        {.name = "order_not_saved",
         .belief = "data that are shuffled anyway need no place",
         .hint = "Which examples does the resumed run see a second time in this epoch, and "
                 "which never?",
         .caught_by = the_order()},
        made_of<Random<without_order>>()),
    add_bug<Impl>({.name = "nothing_random_saved",
                   .belief = "the same seed gives the same run",
                   .hint = "The same seed gives the same beginning. Where in the run is the cut?",
                   .caught_by = every_random()},
                  made_of<Random<without_all>>()),
    add_bug<Impl>({.name = "epoch_from_its_start",
                   .belief = "the order of the epoch is enough",
                   .hint = "How many examples of this epoch were taken before the cut?",
                   .caught_by = the_order()},
                  made_of<Random<position_begins_anew>>()),
    add_bug<Impl>({.name = "order_generator_not_saved",
                   .belief = "the order of the epoch is there, so its generator is not needed",
                   .hint = "Who draws the order of the next epoch?",
                   .caught_by = the_order() - "order_goes_on_inside_an_epoch" -
                                "a_file_at_every_call" - "a_newer_file_replaces_the_older"},
                  made_of<Random<without_generator>>()),
    add_bug<Impl>(
        {.name = "draws_the_epoch_again",
         .belief = "the generator draws the same order again",
         .hint = "Before the cut the generator had drawn this epoch's order. Which one does "
                 "it draw next?",
         .caught_by = the_order()},
        made_of<Random<as_they_are, draws_the_epoch_again>>()),
    add_bug<Impl>({.name = "leaves_the_rest_of_the_epoch",
                   .belief = "a resumed run begins with a new epoch",
                   .hint = "Which examples of this epoch does the resumed run never see?",
                   .caught_by = the_order()},
                  made_of<Random<leaves_the_rest_of_the_epoch>>()),
    add_bug<Impl>(
        {.name = "one_example_twice",
         .belief = "the position is that of the last example",
         .hint = "How many examples had been taken when you saved, and how many are there "
                 "when you have loaded?",
         .caught_by = the_order()},
        made_of<Random<one_example_twice>>()),
    add_bug<Impl>({.name = "passes_over_one",
                   .belief = "the next example is the one behind the position",
                   .hint = "Which example does next() take at the position that you load?",
                   .caught_by = the_order()},
                  made_of<Random<passes_over_one>>()),
    add_bug<Impl>({.name = "in_the_order_of_the_data",
                   .belief = "how many are left is enough, not which",
                   .hint = "Which examples had been taken before the cut, and which are left?",
                   .caught_by = the_order()},
                  made_of<Random<in_the_order_of_the_data>>()),
    add_bug<Impl>({.name = "appends_to_the_epoch",
                   .belief = "a vector is empty before it is loaded",
                   .hint = "How long is the epoch after your load, if the trainer had one?",
                   .caught_by = {"a_used_order_forgets", "a_file_resumes_the_run"}},
                  made_of<Random<as_they_are, appends_to_the_epoch>>()),
    add_bug<Impl>({.name = "reseeds_after_a_load",
                   .belief = "a run that overflowed needs other random numbers",
                   .hint = "Would the run that was not cut have had them? Which settings can you "
                           "change instead, and where would the change be written down?",
                   .caught_by = every_random() - "order_goes_on_inside_an_epoch"},
                  made_of<Random<as_they_are, reseeds_by_the_position>>()),
    add_bug<Impl>({.name = "looks_at_the_next_noise",
                   .belief = "a number that is drawn to be compared later does no harm",
                   .hint = "Which number does the run that saves draw next?",
                   .caught_by = {"saving_draws_nothing"}},
                  made_of<LooksAtTheNextNoise>()),
    add_bug<Impl>(
        {.name = "draws_before_it_saves",
         .belief = "a generator can be looked at by drawing from it",
         .hint = "Which number does the run that is resumed draw first, and which would it "
                 "have been?",
         .caught_by = the_noise() + "saving_draws_nothing"},
        made_of<LooksBeforeItSaves>()),
    add_bug<Impl>({.name = "random_in_memory",
                   .belief = "what a static variable holds is saved",
                   .hint = "What is left of your variable when the process has ended?",
                   .caught_by = from_process_to_process() + "another_process_reads_the_generators"},
                  made_of<RandomInMemory>()),
};

}  // namespace
}  // namespace gradlab::resume_bugs
