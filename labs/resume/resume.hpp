// The contract of the resume lab. Read it; write your answers in resume.cpp, not here.
// The story and worked examples: handouts/resume.md. The AMP library: handouts/amp.md.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/optim/adamw.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <gradlab/amp/amp.hpp>
#include <gradlab/contract.hpp>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace resume {

// ---- given: a trainer with all that changes while it trains, and a call of its run

// A weight of the model, [out, in]: a float32 leaf that requires a gradient, under a name of its
// own.
struct Weight {
  std::string name;
  torch::Tensor value;
};

// x is [in], y is [out], both float32.
struct Example {
  torch::Tensor x;
  torch::Tensor y;
};

// The learning rate by the number of steps taken. A step that was skipped does not count.
struct Schedule {
  int64_t steps = 0;
  double lr() const { return 0.0625 / static_cast<double>(1 + steps); }
};

// Which example comes next: all of them once in each epoch, in an order that is drawn anew.
struct DataOrder {
  std::mt19937_64 generator;
  std::vector<int64_t> epoch;  // the order of this epoch; empty before the first
  int64_t position = 0;        // how many of them have been taken

  int64_t next(int64_t examples) {
    if (position == static_cast<int64_t>(epoch.size())) {
      epoch.resize(static_cast<size_t>(examples));
      std::iota(epoch.begin(), epoch.end(), 0);
      std::shuffle(epoch.begin(), epoch.end(), generator);
      position = 0;
    }
    return epoch[static_cast<size_t>(position++)];
  }
};

// `size` micro-batches make a step. The gradients of those that were gathered so far lie in the
// weights, summed up and multiplied by the loss scale.
struct Window {
  int64_t size = 1;  // a setting: it is the same in every trainer of a run
  int64_t gathered = 0;
};

struct Trainer {
  Trainer(std::vector<Weight> start, uint64_t seed, int64_t window_size,
          const gradlab::amp::GradScalerOptions& options = {})
      : weights(std::move(start)),
        optimizer(std::make_unique<torch::optim::AdamW>(values())),
        scaler(options),
        noise(at::make_generator<at::CPUGeneratorImpl>(seed)),
        order{std::mt19937_64(seed), {}, 0},
        window{window_size, 0} {}

  // The tensors of the weights, as the optimizer knows them.
  std::vector<torch::Tensor> values() const {
    std::vector<torch::Tensor> all;
    for (const auto& weight : weights) all.push_back(weight.value);
    return all;
  }

  // task 1
  std::vector<Weight> weights;
  std::unique_ptr<torch::optim::AdamW> optimizer;  // one group; lr comes from the schedule
  // task 2
  gradlab::amp::GradScaler scaler;
  Schedule schedule;
  // task 3
  at::Generator noise;
  DataOrder order;
  // task 4
  Window window;  // and the gradients of the weights
};

// Linear layers, tanh between them. The result is float16, as an autocast region leaves it; all
// before it is float32, and summed in one order, so that a run has the same bits every time.
inline torch::Tensor forward(const Trainer& trainer, const torch::Tensor& x) {
  auto out = x;
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    out = (trainer.weights[i].value * (i == 0 ? out : torch::tanh(out))).sum(-1);
  }
  return out.to(torch::kHalf);
}

// A micro-batch of one example, with noise on its input: adds to the gradients. Returns the loss.
inline double gather(Trainer& trainer, const Example& example) {
  const auto x = example.x + torch::randn(example.x.sizes(), trainer.noise) / 8;
  const auto out = forward(trainer, x).to(torch::kFloat32);
  const auto loss = torch::mse_loss(out, example.y) / trainer.window.size;
  trainer.scaler.scale(loss).backward();
  ++trainer.window.gathered;
  return loss.item<double>();
}

// The step of a full window, or a skip.
inline void finish(Trainer& trainer) {
  static_cast<torch::optim::AdamWOptions&>(trainer.optimizer->param_groups().front().options())
      .lr(trainer.schedule.lr());
  trainer.scaler.unscale_(*trainer.optimizer);
  gradlab::amp::clip_grad_norm_(trainer.values(), 1);
  if (trainer.scaler.step(*trainer.optimizer)) ++trainer.schedule.steps;
  trainer.scaler.update();
  trainer.optimizer->zero_grad();
  trainer.window.gathered = 0;
}

// One call of a run: what it did.
struct Call {
  int64_t example = -1;  // its place in the data; -1 for a step
  double loss = 0;
};

inline Call advance(Trainer& trainer, const std::vector<Example>& data) {
  if (trainer.window.gathered == trainer.window.size) {
    finish(trainer);
    return {};
  }
  const int64_t drawn = trainer.order.next(static_cast<int64_t>(data.size()));
  return {drawn, gather(trainer, data.at(static_cast<size_t>(drawn)))};
}

// ---- yours
//
// A run is a row of calls of advance(). It may be cut between any two of them: saved, ended, and
// gone on with by another process, in a trainer that was made there. N calls, a cut and M calls are
// N + M calls: the same examples, losses, weights and scales, bit for bit.
//
// Tasks 1 to 4: save_* gives a part of the trainer as bytes, in a form of your own; load_* puts
// that part, and no other, into a trainer with weights of the same names and shapes.
// REQUIRES of load_*: bytes from the save_* beside it, whole, perhaps of another process; except
// where an error is asked for below.
// ENSURES: save_* changes nothing. After load_* nothing is left of what that part was before: the
// trainer may have trained something else.

// Task 1. The weights and all that the optimizer knows of them: moments and number of steps.
// The weights stay the tensors that they are, since the optimizer holds the same ones.
std::string save_model(const Trainer& trainer);
void load_model(Trainer& trainer, const std::string& bytes);

// Task 2. The scaler, with its factors and interval (another trainer may be made with others), and
// the schedule. The cut may come before a call that unscales at once.
// A disabled scaler has no state; a disabled scaler that loads stays as it is. THROWS
// std::runtime_error where an enabled scaler is to load what a disabled one saved; then nothing has
// changed, the schedule neither.
std::string save_scaler(const Trainer& trainer);
void load_scaler(Trainer& trainer, const std::string& bytes);

// Task 3. The generator of the noise, and the order of the data.
std::string save_random(const Trainer& trainer);
void load_random(Trainer& trainer, const std::string& bytes);

// Task 4. How many micro-batches were gathered, and their gradients; none where none were.
std::string save_window(const Trainer& trainer);
void load_window(Trainer& trainer, const std::string& bytes);

// Task 5. The whole trainer in one file, which replaces an older one at that path.
// ENSURES: whenever the process ends in save_checkpoint, the file at `path` is the old or the new
// one, whole, and so it is for whoever has it open. REQUIRES: the path's folder may be written to.
// THROWS std::runtime_error where the file cannot be written whole; the old one is still there.
void save_checkpoint(const Trainer& trainer, const std::string& path);
// THROWS std::runtime_error where there is no file, where it is cut short, where it is something
// else, and where it is of a model with other weights; then nothing has changed. In the last case
// the message names the first weight whose name or shape is another than in the file, before any
// other weight (the file's name for it, where the trainer has no weight at that place).
void load_checkpoint(Trainer& trainer, const std::string& path);

// One implementation of the lab: the student's, the reference's, or a known mistake's.
struct Impl {
  gradlab::Function<decltype(resume::save_model)> save_model{"resume.1"};
  gradlab::Function<decltype(resume::load_model)> load_model{"resume.1"};
  gradlab::Function<decltype(resume::save_scaler)> save_scaler{"resume.2"};
  gradlab::Function<decltype(resume::load_scaler)> load_scaler{"resume.2"};
  gradlab::Function<decltype(resume::save_random)> save_random{"resume.3"};
  gradlab::Function<decltype(resume::load_random)> load_random{"resume.3"};
  gradlab::Function<decltype(resume::save_window)> save_window{"resume.4"};
  gradlab::Function<decltype(resume::load_window)> load_window{"resume.4"};
  gradlab::Function<decltype(resume::save_checkpoint)> save_checkpoint{"resume.5"};
  gradlab::Function<decltype(resume::load_checkpoint)> load_checkpoint{"resume.5"};
};

GRADLAB_CONTRACT(save_model, load_model, save_scaler, load_scaler, save_random, load_random,
                 save_window, load_window, save_checkpoint, load_checkpoint)

}  // namespace resume
