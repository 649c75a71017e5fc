// The experiments of task 1: a pass from several kinds of caller.
#include "given.hpp"
#include "runner/clean_thread.hpp"
#include "runner/lab.hpp"
#include "thread_state.hpp"

namespace {

using autocast::Impl;
using autocast::Pass;
using gradlab::Case;
using gradlab::clean_thread;
using gradlab::Observation;
using namespace gradlab::autocast_lab;

void add_pass(Observation& seen, const Pass& pass, const Given& given) {
  seen.add("output", std::vector<torch::Tensor>{pass.output})
      .add("value_of_the_loss", std::vector<torch::Tensor>{pass.loss})
      .add_word("output_dtype", dtype_of(pass.output))
      .add_word("loss_dtype", dtype_of(pass.loss))
      .add_word("region_of_the_model", given.noticed->forward);
}

Observation pass_once(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  const Pass pass = impl.forward_and_loss(given.model, given.batch(), given.dtype);
  Observation seen;
  seen.add_word("state_afterwards", state_in_words());
  clean_thread();
  add_pass(seen, pass, given);
  return seen;
}

Observation pass_and_backward(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  const Pass pass = impl.forward_and_loss(given.model, given.batch(), given.dtype);
  clean_thread();
  Observation seen;
  run_backward(seen, pass.loss);
  return seen.add("gradients", given.gradients()).add("parameters", given.model.parameters);
}

Observation pass_that_throws(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  Observation seen;
  watch_exception(seen, [&] { impl.forward_and_loss(given.model, given.batch(), given.dtype); });
  return seen.add_word("state_afterwards", state_in_words());
}

// The caller runs the model before and after, in a region of its own.
Observation pass_between_others(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  given.model.forward(given.batch().x);
  given.noticed->forward = "never run";
  Observation seen;
  Pass pass;
  watch_error(seen, [&] { pass = impl.forward_and_loss(given.model, given.batch(), given.dtype); });
  add_pass(seen, pass, given);
  std::string next;
  try {
    next = dtype_of(given.model.forward(given.batch().x));
  } catch (const c10::Error& error) {
    next = "it threw: " + gradlab::first_sentence(error.what());
  }
  return seen.add_word("dtype_of_the_callers_next_pass", next);
}

// An evaluation, and after it a pass for training.
Observation pass_without_gradients(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const Given given(in);
  const Pass evaluated = impl.forward_and_loss(given.model, given.batch(), given.dtype);
  Observation seen;
  seen.add_word("state_afterwards", state_in_words())
      .add_word("loss_dtype", dtype_of(evaluated.loss))
      .add("evaluation_needs_a_gradient",
           evaluated.loss.defined() && evaluated.loss.requires_grad());
  torch::GradMode::set_enabled(true);
  const Pass trained = impl.forward_and_loss(given.model, given.batch(), given.dtype);
  clean_thread();
  run_backward(seen, trained.loss);
  return seen.add("gradients", given.gradients());
}

GRADLAB_EXPERIMENTS(autocast, pass_once, pass_and_backward, pass_that_throws, pass_between_others,
                    pass_without_gradients)

}  // namespace
