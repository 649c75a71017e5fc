// The experiments of tasks 2, 3 and 5: one step, one step that throws, several steps.
#include <limits>

#include "given.hpp"
#include "runner/clean_thread.hpp"
#include "runner/lab.hpp"
#include "thread_state.hpp"

namespace {

using autocast::Impl;
using gradlab::Case;
using gradlab::clean_thread;
using gradlab::Observation;
using namespace gradlab::autocast_lab;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void add_step(Observation& seen, const Given& given) {
  seen.add_word("state_afterwards", state_in_words())
      .add_word("state_in_forward", given.noticed->forward)
      .add_word("state_in_backward", given.noticed->backward)
      .add("parameters", given.model.parameters);
}

Observation step_once(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  auto sgd = given.sgd(in);
  Observation seen;
  double loss = kNone;
  watch_error(seen,
              [&] { loss = impl.training_step(given.model, given.batch(), given.dtype, sgd); });
  add_step(seen, given);
  return seen.add("loss", loss);
}

Observation step_that_throws(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  auto sgd = given.sgd(in);
  Observation seen;
  watch_exception(seen, [&] { impl.training_step(given.model, given.batch(), given.dtype, sgd); });
  add_step(seen, given);
  return seen;
}

Observation train_all(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  auto sgd = given.sgd(in);
  Observation seen;
  std::vector<torch::Tensor> losses;
  watch_error(seen, [&] {
    for (const double loss : impl.train(given.model, given.batches, given.dtype, sgd)) {
      losses.push_back(torch::tensor(loss, torch::kFloat64));
      // One too many tells enough; an answer has room for some thousand tensors.
      if (losses.size() > given.batches.size()) break;
    }
  });
  add_step(seen, given);
  return seen.add("losses", losses);
}

// After the last step the caller evaluates in a region of its own.
Observation train_then_evaluate(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  auto sgd = given.sgd(in);
  Observation seen;
  watch_error(seen, [&] { impl.train(given.model, given.batches, given.dtype, sgd); });
  enter_region(given.dtype);
  const auto output = given.model.forward(given.batch().x);
  clean_thread();
  return seen.add("output_after_training", std::vector<torch::Tensor>{output});
}

Observation scaled_step(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  auto sgd = given.sgd(in);
  Observation seen;
  double loss = kNone;
  watch_error(seen, [&] {
    loss =
        impl.scaled_training_step(given.model, given.batch(), given.dtype, sgd, in.number("scale"));
  });
  seen.add("loss", loss);
  add_step(seen, given);
  return seen.add("gradient_at_the_output",
                  std::vector<torch::Tensor>{given.noticed->output_gradient});
}

GRADLAB_EXPERIMENTS(autocast, step_once, step_that_throws, train_all, train_then_evaluate,
                    scaled_step)

}  // namespace
