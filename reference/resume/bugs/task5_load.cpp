// Known mistakes in load_checkpoint: what is taken for a checkpoint, and when the trainer changes.
#include <ATen/core/ivalue.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "common.hpp"

namespace gradlab::resume_bugs {
namespace {

Checks refusals() {
  return {"a_missing_file_is_refused", "a_truncated_file_is_refused", "a_foreign_file_is_refused",
          "another_models_file_is_refused"};
}

struct BeginsAnewWithoutAFile : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    if (std::filesystem::exists(path)) Right::load_file<Own>(trainer, path);
  }
};

struct GoesOnWhateverIsThere : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    try {
      Right::load_file<Own>(trainer, path);
    } catch (const std::runtime_error&) {
      return;
    }
  }
};

struct ThrowsTorchsError : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    try {
      Right::load_file<Own>(trainer, path);
    } catch (const std::runtime_error& error) {
      TORCH_CHECK(false, error.what());
    }
  }
};

struct EmptyIsNoError : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    if (!read_all(path).empty()) Right::load_file<Own>(trainer, path);
  }
};

template <typename Own>
void put_what_is_there(Trainer& trainer, const Items& file) {
  if (has(file, "names")) require_same_weights(trainer, text_of(file.at("names")));
  if (has(file, "model")) Own::load_model(trainer, part_in(file, "model"));
  if (has(file, "random")) Own::load_random(trainer, part_in(file, "random"));
  if (has(file, "scaler")) Own::load_scaler(trainer, part_in(file, "scaler"));
  if (has(file, "window")) Own::load_window(trainer, part_in(file, "window"));
}

// Reads a part, puts it, reads the next.
struct PutsPartAfterPart : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    const auto bytes = read_all(path);
    put_what_is_there<Own>(trainer, unpack_as_far_as_it_goes(bytes));
    unpack(bytes);  // throws where the end is missing
  }
};

struct TakesWhatIsThere : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    put_what_is_there<Own>(trainer, unpack_as_far_as_it_goes(read_all(path)));
  }
};

// ---- another model

struct Line {
  std::string name;
  std::string shape;
};
std::vector<Line> lines_of(const std::string& names) {
  std::vector<Line> lines;
  std::istringstream in(names);
  for (Line line; in >> line.name && std::getline(in, line.shape);) lines.push_back(line);
  return lines;
}

// `differs` compares the weights of a trainer and a file in its own way; what it says is thrown.
template <std::string (*differs)(const std::vector<Line>& here, const std::vector<Line>& there)>
struct Compares : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    const auto file = unpack(read_all(path));
    const auto said = differs(lines_of(names_of(trainer)), lines_of(text_of(file.at("names"))));
    if (!said.empty()) throw std::runtime_error(said);
    auto model = unpack(part_in(file, "model"));
    for (size_t i = 0; i < trainer.weights.size(); ++i) {
      auto saved = model.find(at("weights", i));
      if (saved == model.end()) continue;
      const auto& value = trainer.weights[i].value;
      if (saved->second.numel() == value.numel()) {
        saved->second = saved->second.view(value.sizes());
      } else {
        model.erase(saved);
      }
    }
    Own::load_scaler(trainer, part_in(file, "scaler"));
    put_model(trainer, model);
    Own::load_random(trainer, part_in(file, "random"));
    Own::load_window(trainer, part_in(file, "window"));
  }
};

bool same(const Line& a, const Line& b) { return a.name == b.name && a.shape == b.shape; }

std::string counts(const std::vector<Line>& here, const std::vector<Line>& there) {
  return here.size() == there.size() ? "" : "another number of weights: " + here.back().name;
}
std::string names_only(const std::vector<Line>& here, const std::vector<Line>& there) {
  const auto& longer = here.size() < there.size() ? there : here;
  for (size_t i = 0; i < longer.size(); ++i) {
    if (i >= here.size() || i >= there.size() || here[i].name != there[i].name) {
      return "another weight: " + longer[i].name;
    }
  }
  return "";
}
std::string all_here_are_there(const std::vector<Line>& here, const std::vector<Line>& there) {
  for (size_t i = 0; i < here.size(); ++i) {
    if (i >= there.size() || !same(here[i], there[i])) return "another weight: " + here[i].name;
  }
  return "";
}
std::string shapes_only(const std::vector<Line>& here, const std::vector<Line>& there) {
  const auto& longer = here.size() < there.size() ? there : here;
  for (size_t i = 0; i < longer.size(); ++i) {
    if (i >= here.size() || i >= there.size() || here[i].shape != there[i].shape) {
      return "another weight: " + longer[i].name;
    }
  }
  return "";
}
std::string without_a_name(const std::vector<Line>& here, const std::vector<Line>& there) {
  const bool is_same = std::equal(here.begin(), here.end(), there.begin(), there.end(), same);
  return is_same ? "" : "the checkpoint is of another model";
}
std::string lists_all(const std::vector<Line>& here, const std::vector<Line>& there) {
  if (without_a_name(here, there).empty()) return "";
  std::string said = "expected";
  for (const auto& line : here) said += " " + line.name;
  return said;
}
std::string the_last(const std::vector<Line>& here, const std::vector<Line>& there) {
  const auto& longer = here.size() < there.size() ? there : here;
  for (size_t i = longer.size(); i-- > 0;) {
    if (i >= here.size() || i >= there.size() || !same(here[i], there[i])) {
      return "another weight: " + longer[i].name;
    }
  }
  return "";
}

struct PutsBeforeItCompares : Right {
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    const auto file = unpack(read_all(path));
    Own::load_random(trainer, part_in(file, "random"));
    require_same_weights(trainer, text_of(file.at("names")));
    Own::template load_parts<Own>(trainer, file);
  }
};

// ---- parts that are forgotten

template <int part>
struct Forgets : Right {
  template <typename Own>
  static void load_parts(Trainer& trainer, const Items& file) {
    if (part != 1) Own::load_scaler(trainer, part_in(file, "scaler"));
    if (part == 1) trainer.scaler.scale(torch::zeros({}));
    if (part != 0) Own::load_model(trainer, part_in(file, "model"));
    if (part != 2) Own::load_random(trainer, part_in(file, "random"));
    if (part != 3) Own::load_window(trainer, part_in(file, "window"));
  }
};

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "begins_anew_without_a_file",
                   .belief = "no file means a new run",
                   .hint = "The path was misspelt. After how many hours will somebody see it?",
                   .caught_by = {"a_missing_file_is_refused"}},
                  made_of<BeginsAnewWithoutAFile>()),
    add_bug<Impl>({.name = "goes_on_whatever_is_there",
                   .belief = "a checkpoint that cannot be read is no checkpoint",
                   .hint = "Who finds out that weeks of training were not loaded?",
                   .caught_by = refusals() + "the_first_other_weight_is_named"},
                  made_of<GoesOnWhateverIsThere>()),
    add_bug<Impl>({.name = "throws_torchs_error",
                   .belief = "c10::Error is a std::runtime_error",
                   .hint = "From which class does c10::Error inherit?",
                   .caught_by = refusals()},
                  made_of<ThrowsTorchsError>()),
    add_bug<Impl>({.name = "empty_is_no_error",
                   .belief = "an empty file has nothing to load",
                   .hint = "What made the file empty, and what was in it before?",
                   .caught_by = {"a_truncated_file_is_refused", "a_foreign_file_is_refused"}},
                  made_of<EmptyIsNoError>()),
    add_bug<Impl>(
        {.name = "puts_part_after_part",
         .belief = "what was read can be put at once",
         .hint = "The file ends in the third part. Which parts of the trainer are from the "
                 "file by then?",
         .caught_by = {"a_truncated_file_is_refused"}},
        made_of<PutsPartAfterPart>()),
    add_bug<Impl>(
        {.name = "takes_what_is_there",
         .belief = "half a checkpoint is better than none",
         .hint = "Weights from the file, scaler and order from the start: whose run is that?",
         .caught_by = {"a_truncated_file_is_refused", "a_foreign_file_is_refused"}},
        made_of<TakesWhatIsThere>()),
    add_bug<Impl>(
        {.name = "counts_weights",
         .belief = "as many weights are the same weights",
         .hint = "Two models have two weights each. What else can be different?",
         .caught_by = {"another_models_file_is_refused", "the_first_other_weight_is_named"}},
        made_of<Compares<counts>>()),
    add_bug<Impl>(
        {.name = "compares_names_only",
         .belief = "a name is a weight",
         .hint = "The model was made wider, its names are as before. What do you load?",
         .caught_by = {"another_models_file_is_refused", "the_first_other_weight_is_named"}},
        made_of<Compares<names_only>>()),
    add_bug<Impl>(
        {.name = "compares_shapes_only",
         .belief = "a shape is a weight",
         .hint = "Encoder and decoder have the same shape. How do you know which is which?",
         .caught_by = {"another_models_file_is_refused", "the_first_other_weight_is_named"}},
        made_of<Compares<shapes_only>>()),
    add_bug<Impl>(
        {.name = "more_weights_do_no_harm",
         .belief = "what the model does not have can be left in the file",
         .hint = "The file's model has a layer more. Is the shorter one the same model?",
         .caught_by = {"another_models_file_is_refused", "the_first_other_weight_is_named"}},
        made_of<Compares<all_here_are_there>>()),
    add_bug<Impl>(
        {.name = "says_no_name",
         .belief = "it is enough to say that something is different",
         .hint = "The model has three hundred weights. Which of them is someone to look at?",
         .caught_by = {"the_first_other_weight_is_named"}},
        made_of<Compares<without_a_name>>()),
    add_bug<Impl>(
        {.name = "lists_all_names",
         .belief = "a list of all weights says which one is different",
         .hint = "The model has three hundred weights. Which of them is someone to look at?",
         .caught_by = {"the_first_other_weight_is_named"}},
        made_of<Compares<lists_all>>()),
    add_bug<Impl>(
        {.name = "names_the_last",
         .belief = "the last difference that was found is the one to tell",
         .hint = "A layer was put in near the front. Which weights are different then, and "
                 "which of them tells what happened?",
         .caught_by = {"the_first_other_weight_is_named"}},
        made_of<Compares<the_last>>()),
    add_bug<Impl>({.name = "puts_before_it_compares",
                   .belief = "random numbers fit every model",
                   .hint = "The file was refused. Which numbers does the run draw next?",
                   .caught_by = {"another_models_file_is_refused"}},
                  made_of<PutsBeforeItCompares>()),
    add_bug<Impl>({.name = "file_without_model",
                   .belief = "weights are loaded elsewhere",
                   .hint = "Which of the four parts does your load leave in the file?",
                   .caught_by = through_a_file()},
                  made_of<Forgets<0>>()),
    add_bug<Impl>({.name = "file_without_scaler",
                   .belief = "a checkpoint is model and optimizer",
                   .hint = "Which of the four parts does your load leave in the file?",
                   .caught_by = through_a_file()},
                  made_of<Forgets<1>>()),
    add_bug<Impl>({.name = "file_without_random",
                   .belief = "a checkpoint is what was learnt",
                   .hint = "Which of the four parts does your load leave in the file?",
                   .caught_by = through_a_file()},
                  made_of<Forgets<2>>()),
    add_bug<Impl>({.name = "file_without_window",
                   .belief = "checkpoints are written between windows",
                   .hint = "Which of the four parts does your load leave in the file?",
                   .caught_by = through_a_file()},
                  made_of<Forgets<3>>()),
};

}  // namespace
}  // namespace gradlab::resume_bugs
