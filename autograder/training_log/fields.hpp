// What one line holds, as names and values, and how names are understood: "grad_norm", "gnorm" and
// "total norm" are all the norm.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "training_log/step.hpp"

namespace gradlab::training_log {

struct Value {
  enum class Kind { kNone, kFlag, kNumber, kText };
  Kind kind = Kind::kNone;
  double number = 0;  // of a flag too: 0 or 1
  std::string text;

  // A text that spells a number counts as one, since many writers quote them.
  std::optional<double> as_number() const;
};

// In the line's order; what is nested is named "layers/fc1".
class Fields {
 public:
  void add(std::string name, Value value);
  void add(std::string_view name, std::string_view spelled);  // a number if it is one, else text
  const Value* find(std::string_view name) const;             // the first of that name
  std::string text(std::string_view name) const;              // "" where there is none
  std::optional<double> number(std::string_view name) const;
  const std::vector<std::pair<std::string, Value>>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }

 private:
  std::vector<std::pair<std::string, Value>> all_;
};

// Reads the object that `text` begins with, leniently: JSON, bare NaN and Infinity, a Python dict
// with single quotes, None, True. Nested objects are flattened, of lists the first element is kept
// (all, joined, where they are text). False where the object is broken or not closed; `used` is
// then how far it got, else the bytes it took. Depth is capped at 8, fields at 4096.
bool parse_object(std::string_view text, Fields& fields, std::size_t* used = nullptr);

// Fills what the names are known for; a name that is not is left alone, as is the evaluation's
// ("eval_loss"). Returns how many of loss, norm, scale, lr and skipped it filled.
int fill_step(const Fields& fields, Step& step);

// "Grad Norm" and "train/grad-norm" as "grad_norm".
std::string plain_name(std::string_view name);

// Settings that a run_start line or a first line may hold, by their plain names.
Config config_of(const Fields& fields);

}  // namespace gradlab::training_log
