// What every resume experiment is made of: trainers and data built from a case, the parts of a
// trainer with ways to lose them, and a diary of what is seen after each call.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "protocol/case.hpp"
#include "protocol/observation.hpp"
#include "resume.hpp"

namespace gradlab::resume_runs {

using resume::Impl;
using resume::Trainer;
using Data = std::vector<resume::Example>;

// The names that weights may have, in the order in which a model's weights have them.
const std::vector<std::string>& names();
// The tensors that the case holds under `list`, as weights.
std::vector<resume::Weight> weights_of(const Case& in, const std::string& list);

// As a run begins: with the case's scaler options.
Trainer trainer_of(const Case& in);
// As a process makes one that is to go on with the run: the same weights and seed, and a scaler of
// the first options that come to mind, the defaults.
Trainer new_trainer_of(const Case& in);
// One that has trained for a few calls, from another seed and with another scaler.
Trainer used_trainer_of(const Case& in);
Data data_of(const Case& in);

// A part of the trainer, as tasks 1 to 4 have them.
struct Part {
  std::function<std::string(const Impl&, const Trainer&)> save;
  std::function<void(const Impl&, Trainer&, const std::string&)> load;
  // Puts into `trainer` what `other` has of this part; the tensors of the weights stay.
  std::function<void(Trainer& trainer, Trainer& other)> lose;
};
const Part& part_of(const Case& in);

torch::Tensor row_of_weights(const Trainer& trainer);  // a copy

// What is seen of each call of a run, and after it.
class Diary {
 public:
  void advance(Trainer& trainer, const Data& data);
  // Up to call number `end`.
  void advance_to(int64_t end, Trainer& trainer, const Data& data);
  // Adds the lists: "loss_<ending>" and so on.
  void add_to(Observation& seen, const std::string& ending) const;

 private:
  void note(const std::string& what, double value);

  int64_t calls_ = 0;
  std::map<std::string, std::vector<torch::Tensor>> lists_;
};

// Adds what a run of `calls` calls shows that nothing interrupts.
void add_run_without_a_cut(const Case& in, Observation& seen);

}  // namespace gradlab::resume_runs
