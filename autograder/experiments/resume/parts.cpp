// The experiments of tasks 1 to 4: a run that loses one part of its trainer, and has it back from
// what an implementation saved. All other parts live on. They know no expected value.
#include <optional>

#include "experiments/resume/elsewhere.hpp"
#include "experiments/resume/experiments.hpp"
#include "experiments/resume/run.hpp"

namespace gradlab::resume_runs {
namespace {

// The part as the trainer of such a run has it before call number `cut`: from here, or from a
// process that made the run for itself.
std::string saved(const Impl& impl, const Case& in, const Trainer& trainer, int64_t cut) {
  const auto& part = part_of(in);
  if (in.word("saved_by") == "this process") return part.save(impl, trainer);
  const auto bytes = in_another_process([&] {
    auto its_own = trainer_of(in);
    Diary().advance_to(cut, its_own, data_of(in));
    return part.save(impl, its_own);
  });
  return bytes.value();
}

void lose_and_load(const Impl& impl, const Case& in, Trainer& trainer, int64_t cut) {
  const auto& part = part_of(in);
  const auto bytes = saved(impl, in, trainer, cut);
  auto other = in.word("into") == "a new trainer" ? new_trainer_of(in) : used_trainer_of(in);
  part.lose(trainer, other);
  part.load(impl, trainer, bytes);
}

}  // namespace

// `calls` calls with one cut before call number `cut`, or, where that is -1, before each of them.
Observation resumed(const Impl& impl, const Case& in) {
  Observation seen;
  if (in.all_integers().contains("also_without_a_cut")) add_run_without_a_cut(in, seen);
  const auto data = data_of(in);
  auto trainer = trainer_of(in);
  Diary diary;
  for (int64_t i = 0; i <= in.integer("calls"); ++i) {
    if (in.integer("cut") == i || in.integer("cut") == -1) {
      seen.add("weights_when_saved", {row_of_weights(trainer)});
      lose_and_load(impl, in, trainer, i);
      seen.add("weights_when_loaded", {row_of_weights(trainer)});
    }
    if (i < in.integer("calls")) diary.advance(trainer, data);
  }
  diary.add_to(seen, "after_calls");
  return seen;
}

// A run that saves after every call and loses nothing.
Observation saved_along(const Impl& impl, const Case& in) {
  Observation seen;
  const auto data = data_of(in);
  auto trainer = trainer_of(in);
  Diary diary;
  for (int64_t i = 0; i < in.integer("calls"); ++i) {
    part_of(in).save(impl, trainer);
    diary.advance(trainer, data);
  }
  diary.add_to(seen, "after_calls");
  return seen;
}

// An enabled scaler is to load what a disabled one saved, before call number `cut`; the run goes
// on.
Observation empty_state(const Impl& impl, const Case& in) {
  Observation seen;
  const auto data = data_of(in);
  auto trainer = trainer_of(in);
  Diary diary;
  diary.advance_to(in.integer("cut"), trainer, data);
  Case disabled = in;
  auto other = trainer_of(disabled.integer("disabled", 1));
  Diary().advance_to(in.integer("cut") + 3, other, data);
  const auto bytes = impl.save_scaler(other);
  seen.call([&] { impl.load_scaler(trainer, bytes); });
  diary.advance_to(in.integer("calls"), trainer, data);
  diary.add_to(seen, "after_calls");
  return seen;
}

}  // namespace gradlab::resume_runs
