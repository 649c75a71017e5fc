// The experiments of task 5: whole checkpoints; files that are no checkpoint; a save that is ended
// in the middle. They know no expected value.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "experiments/resume/elsewhere.hpp"
#include "experiments/resume/experiments.hpp"
#include "experiments/resume/run.hpp"
#include "runner/lab.hpp"

namespace gradlab::resume_runs {
namespace {

constexpr const char* kFile = "run.ckpt";

void save(const Impl& impl, const Case& in, const Trainer& trainer, const std::string& path) {
  if (in.word("saved_by") == "this process") return impl.save_checkpoint(trainer, path);
  in_another_process([&] {
    impl.save_checkpoint(trainer, path);
    return std::string();
  });
}

// The run's trainer before call number `end`.
Trainer trained(const Case& in, int64_t end) {
  auto trainer = trainer_of(in);
  Diary().advance_to(end, trainer, data_of(in));
  return trainer;
}

// What lies at the path in place of a checkpoint.
void spoil(const Case& in, const std::string& path) {
  const auto whole = bytes_of_file(path).value_or("");
  const auto& kind = in.word("file");
  const auto kept = [&](double share) {
    const auto most = std::max<size_t>(whole.size(), 1) - 1;
    return std::min(most, static_cast<size_t>(share * static_cast<double>(whole.size())));
  };
  if (kind == "none") {
    std::filesystem::remove(path);
  } else if (kind == "cut short") {
    write_file(path, whole.substr(0, kept(in.number("share_that_is_left"))));
  } else if (kind == "zeros") {
    write_file(path, std::string(whole.size(), '\0'));
  } else if (kind == "text") {
    std::string text;
    while (text.size() < whole.size()) text += "epoch 3, loss 0.25\n";
    write_file(path, text);
  } else if (kind == "its second half") {
    write_file(path, whole.substr(whole.size() / 2));
  } else {
    write_file(path, "");
  }
}

// Whichever of all names stands first in the text.
std::string first_name_in(const std::string& text) {
  std::string first = "none";
  auto at = std::string::npos;
  for (const auto& name : names()) {
    if (text.find(name) >= at) continue;  // npos is the largest
    at = text.find(name);
    first = name;
  }
  return first;
}

// A load that may throw; what it says is looked through for the names of weights.
void load(const Impl& impl, Trainer& trainer, const std::string& path, Observation& seen) {
  std::string message;
  seen.call([&] {
    try {
      impl.load_checkpoint(trainer, path);
    } catch (const std::exception& error) {
      message = error.what();
      throw;
    }
  });
  seen.add_word("first_weight_in_the_message", first_name_in(message));
}

// The file is to be loaded before call number `load`, and the run goes on.
Observation load_and_go_on(const Impl& impl, const Case& in, const std::string& path) {
  Observation seen;
  const auto data = data_of(in);
  auto trainer = trainer_of(in);
  Diary diary;
  diary.advance_to(in.integer("load"), trainer, data);
  load(impl, trainer, path, seen);
  diary.advance_to(in.integer("calls"), trainer, data);
  diary.add_to(seen, "after_calls");
  return seen;
}

}  // namespace

// `calls` calls; before call number `cut`, or before each where that is -1, a file is saved, and a
// trainer that reads it goes on.
Observation resumed_file(const Impl& impl, const Case& in) {
  Observation seen;
  if (in.all_integers().contains("also_without_a_cut")) add_run_without_a_cut(in, seen);
  const Folder folder;
  const auto data = data_of(in);
  auto trainer = trainer_of(in);
  Diary diary;
  for (int64_t i = 0; i <= in.integer("calls"); ++i) {
    if (in.integer("cut") == i || in.integer("cut") == -1) {
      save(impl, in, trainer, folder.file(kFile));
      trainer = in.word("into") == "a new trainer" ? new_trainer_of(in) : used_trainer_of(in);
      impl.load_checkpoint(trainer, folder.file(kFile));
    }
    if (i < in.integer("calls")) diary.advance(trainer, data);
  }
  diary.add_to(seen, "after_calls");
  return seen;
}

// The run's file of call number `cut` was spoiled; it is to be loaded before call number `load`,
// and the run goes on.
Observation refused_file(const Impl& impl, const Case& in) {
  const Folder folder;
  save(impl, in, trained(in, in.integer("cut")), folder.file(kFile));
  spoil(in, folder.file(kFile));
  return load_and_go_on(impl, in, folder.file(kFile));
}

// The file is of a model with the tensors `weights_of_file`, of which number `renamed` (if not -1)
// has another name. It is to be loaded before call number `load`, and the run goes on.
Observation other_model(const Impl& impl, const Case& in) {
  const Folder folder;
  auto weights = weights_of(in, "weights_of_file");
  if (const auto at = in.integer("renamed"); at >= 0) {
    weights.at(static_cast<size_t>(at)).name = names().back();
  }
  const Trainer other(std::move(weights), 0, in.integer("window"));
  save(impl, in, other, folder.file(kFile));
  return load_and_go_on(impl, in, folder.file(kFile));
}

// A file is saved before call number `cut`; the next, after all calls, may hold a share of its
// bytes only. Beyond it the process is killed, or the disk is full.
Observation interrupted_save(const Impl& impl, const Case& in) {
  const Folder folder;
  save(impl, in, trained(in, in.integer("cut")), folder.file(kFile));
  const auto old = bytes_of_file(folder.file(kFile));
  save(impl, in, trained(in, in.integer("calls")), folder.file("measured"));
  const auto trainer = trained(in, in.integer("calls"));
  const auto size = bytes_of_file(folder.file("measured")).value_or("").size();
  const auto share = static_cast<uint64_t>(in.number("share_written") * static_cast<double>(size));
  const bool kills = in.word("end") == "killed";
  const FileLimit limit{std::min<uint64_t>(share, std::max<size_t>(size, 1) - 1), kills};
  const auto returned = in_another_process(
      [&] {
        Observation call;
        call.call([&] { impl.save_checkpoint(trainer, folder.file(kFile)); });
        return call.word(Observation::kEndOfCall);
      },
      limit);
  const auto now = bytes_of_file(folder.file(kFile));
  // What saved to the end within its limit needs no old file.
  const bool is_whole = now && (now == old || (kills && returned));
  Observation seen;
  if (!kills) seen.add_word(Observation::kEndOfCall, *returned);
  return seen.add_word("the_file_then", !now       ? "none"
                                        : is_whole ? "an old or a new one, whole"
                                                   : "neither the old nor a new one");
}

// A file is saved before call number `cut` and again before call number `again`. The run goes on
// from the second.
Observation replaced_file(const Impl& impl, const Case& in) {
  Observation seen;
  const Folder folder;
  save(impl, in, trained(in, in.integer("cut")), folder.file(kFile));
  const auto data = data_of(in);
  auto trainer = trainer_of(in);
  Diary diary;
  diary.advance_to(in.integer("again"), trainer, data);
  save(impl, in, trainer, folder.file(kFile));
  trainer = new_trainer_of(in);
  impl.load_checkpoint(trainer, folder.file(kFile));
  diary.advance_to(in.integer("calls"), trainer, data);
  diary.add_to(seen, "after_calls");
  return seen;
}

// A file is saved before call number `cut` and again after all calls, while someone has the first
// one open.
Observation open_file(const Impl& impl, const Case& in) {
  const Folder folder;
  save(impl, in, trained(in, in.integer("cut")), folder.file(kFile));
  const auto old = bytes_of_file(folder.file(kFile));
  std::ifstream open(folder.file(kFile), std::ios::binary);
  save(impl, in, trained(in, in.integer("calls")), folder.file(kFile));
  const std::string read(std::istreambuf_iterator<char>(open), {});
  return Observation{}.add_word("what_the_open_file_holds",
                                read == old ? "the old checkpoint" : "something else");
}

}  // namespace gradlab::resume_runs

namespace {
using namespace gradlab::resume_runs;
GRADLAB_EXPERIMENTS(resume, resumed, saved_along, empty_state, resumed_file, refused_file,
                    other_model, interrupted_save, replaced_file, open_file)
}  // namespace
