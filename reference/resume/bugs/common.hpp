// How a known mistake becomes a whole implementation: a type that inherits from Right and hides the
// functions that are wrong. A part is a list of named tensors, so that most mistakes are a change
// of that list; the file is made of the type's own parts, as a student's is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/check_names.hpp"
#include "judge/implementations.hpp"
#include "resume.hpp"

namespace gradlab::resume_bugs {

using resume::Impl;
using resume::Trainer;

using Checks = CheckNames;
using Items = std::map<std::string, torch::Tensor>;

// Bytes of our own: for each item its name, type, shape and data, and a mark at the end.
// unpack throws std::runtime_error for what pack did not write whole.
std::string pack(const Items& items);
Items unpack(const std::string& bytes);
Items unpack_as_far_as_it_goes(const std::string& bytes);  // throws nothing

// The parts as they are to be: "weights.0", "exp_avg.0", "exp_avg_sq.0", "step.0"; the scaler's
// five values (none of a disabled one) and "steps"; "noise", "generator", "epoch", "position";
// "gathered", "gradient.0".
Items model_of(const Trainer& trainer);
Items scaler_of(const Trainer& trainer);
Items random_of(const Trainer& trainer);
Items window_of(const Trainer& trainer);
// And back. What the items lack is left as it is, where nothing else is said.
void put_weights(Trainer& trainer, const Items& items);
void put_optimizer(Trainer& trainer, const Items& items);  // what it knew is gone
void put_model(Trainer& trainer, const Items& items);
void put_scaler(Trainer& trainer, const Items& items);  // throws for a state that is empty
void put_random(Trainer& trainer, const Items& items);
void put_window(Trainer& trainer, const Items& items);  // no gradient where the items have none

torch::Tensor scalar(double value);
std::string text_of(const torch::Tensor& bytes);
torch::Tensor bytes_of(const std::string& text);
std::string at(const std::string& what, size_t index);  // "weights.0"
bool has(const Items& items, const std::string& name);
double number(const Items& items, const std::string& name);
void drop(Items& items, const std::string& prefix);

// ---- files

std::string read_all(const std::string& path);  // throws std::runtime_error where there is no file
void write_all(const std::string& path, const std::string& bytes);     // in place; throws
void replace_file(const std::string& path, const std::string& bytes);  // by a rename; throws
// A checkpoint's items: the parts as bytes, and "names", a line each with name and shape.
Items file_of(const Trainer& trainer, const std::vector<std::string>& parts);
std::string names_of(const Trainer& trainer);
// Throws std::runtime_error that names the first weight that is another one.
void require_same_weights(const Trainer& trainer, const std::string& names);
std::string part_in(const Items& file, const std::string& part);

constexpr const char* kParts[] = {"model", "scaler", "random", "window"};

struct Right {
  static std::string save_model(const Trainer& trainer) { return pack(model_of(trainer)); }
  static void load_model(Trainer& trainer, const std::string& bytes) {
    put_model(trainer, unpack(bytes));
  }
  static std::string save_scaler(const Trainer& trainer) { return pack(scaler_of(trainer)); }
  static void load_scaler(Trainer& trainer, const std::string& bytes) {
    put_scaler(trainer, unpack(bytes));
  }
  static std::string save_random(const Trainer& trainer) { return pack(random_of(trainer)); }
  static void load_random(Trainer& trainer, const std::string& bytes) {
    put_random(trainer, unpack(bytes));
  }
  static std::string save_window(const Trainer& trainer) { return pack(window_of(trainer)); }
  static void load_window(Trainer& trainer, const std::string& bytes) {
    put_window(trainer, unpack(bytes));
  }
  // Of a checkpoint's file: how its bytes come to the path, and from there into the trainer.
  static void write(const std::string& path, const std::string& bytes) {
    replace_file(path, bytes);
  }
  template <typename Own>
  static void load_parts(Trainer& trainer, const Items& file) {
    Own::load_scaler(trainer, part_in(file, "scaler"));  // it alone can still refuse
    Own::load_model(trainer, part_in(file, "model"));
    Own::load_random(trainer, part_in(file, "random"));
    Own::load_window(trainer, part_in(file, "window"));
  }
  template <typename Own>
  static void load_file(Trainer& trainer, const std::string& path) {
    const auto file = unpack(read_all(path));
    require_same_weights(trainer, text_of(file.at("names")));
    Own::template load_parts<Own>(trainer, file);
  }
};

template <typename Own>
void save_file(const Trainer& trainer, const std::string& path) {
  Own::write(path, pack(file_of(trainer, {Own::save_model(trainer), Own::save_scaler(trainer),
                                          Own::save_random(trainer), Own::save_window(trainer)})));
}

template <typename Own>
Impl made_of() {
  Impl impl;
  impl.save_model = Own::save_model;
  impl.load_model = Own::load_model;
  impl.save_scaler = Own::save_scaler;
  impl.load_scaler = Own::load_scaler;
  impl.save_random = Own::save_random;
  impl.load_random = Own::load_random;
  impl.save_window = Own::save_window;
  impl.load_window = Own::load_window;
  impl.save_checkpoint = save_file<Own>;
  impl.load_checkpoint = Own::template load_file<Own>;
  return impl;
}

// What reads and writes a part with other items, or in another way.
using Change = void (*)(Items& items);
using Put = void (*)(Trainer& trainer, const Items& items);

inline std::string packed(Items items, Change change) {
  change(items);
  return pack(items);
}

template <Change change, Put put = put_model>
struct Model : Right {
  static std::string save_model(const Trainer& t) { return packed(model_of(t), change); }
  static void load_model(Trainer& t, const std::string& bytes) { put(t, unpack(bytes)); }
};
template <Change change, Put put = put_scaler>
struct Scaler : Right {
  static std::string save_scaler(const Trainer& t) { return packed(scaler_of(t), change); }
  static void load_scaler(Trainer& t, const std::string& bytes) { put(t, unpack(bytes)); }
};
template <Change change, Put put = put_random>
struct Random : Right {
  static std::string save_random(const Trainer& t) { return packed(random_of(t), change); }
  static void load_random(Trainer& t, const std::string& bytes) { put(t, unpack(bytes)); }
};
template <Change change, Put put = put_window>
struct Window : Right {
  static std::string save_window(const Trainer& t) { return packed(window_of(t), change); }
  static void load_window(Trainer& t, const std::string& bytes) { put(t, unpack(bytes)); }
};

inline void as_they_are(Items&) {}

// Keeps the bytes in this process, under the number that comes back; null for one that is not
// known here.
std::string keep(const std::string& bytes);
const std::string* kept(const std::string& number);

// The checks of a whole checkpoint that a part's mistake fails as well.
inline Checks through_a_file() {
  return {"a_file_resumes_the_run", "forty_steps_through_a_file", "a_file_at_every_call",
          "a_newer_file_replaces_the_older"};
}

// Where the file is saved by one process and loaded by another.
inline Checks from_process_to_process() {
  return {"a_file_resumes_the_run", "forty_steps_through_a_file"};
}

}  // namespace gradlab::resume_bugs
