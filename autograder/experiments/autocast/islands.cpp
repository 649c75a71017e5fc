// The experiments of task 4: an operation that is unsafe in half, alone and between two layers.
#include <ATen/autocast_mode.h>

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

torch::Tensor apply(const std::string& op, const torch::Tensor& x) {
  if (op == "log of the sum of exp") return x.exp().sum(-1).log();
  if (op == "rows to length 1") {
    return x / (x.square().sum(-1, true).sqrt() + 1e-8);
  }
  return x.mm(x.t());  // "products of rows"
}

struct Watched {
  std::string op, throws;
  std::shared_ptr<std::string> dtype = std::make_shared<std::string>("never called");
  std::shared_ptr<std::string> state = std::make_shared<std::string>("never called");

  torch::Tensor operator()(const torch::Tensor& x) const {
    *dtype = dtype_of(x);
    *state = region_in_words();
    throw_as(throws);
    return apply(op, x);
  }
};

Observation island(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const auto input = in.copies("input").front().requires_grad_(true);
  const Watched op{in.word("op"), word_or(in, "throws", "nothing")};
  Observation seen;
  const auto result = impl.in_float32(op, input);
  seen.add_word("state_afterwards", state_in_words());
  clean_thread();
  run_backward(seen, result.defined() ? result.sum() : result);
  return seen.add("result", std::vector<torch::Tensor>{result})
      .add("input_gradient", std::vector<torch::Tensor>{input.grad()})
      .add_word("result_dtype", dtype_of(result))
      .add_word("dtype_that_op_gets", *op.dtype)
      .add_word("state_in_op", *op.state);
}

Observation island_that_throws(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const auto input = in.copies("input").front();
  const Watched op{in.word("op"), word_or(in, "throws", "nothing")};
  Observation seen;
  watch_exception(seen, [&] { impl.in_float32(op, input); });
  return seen.add_word("state_afterwards", state_in_words());
}

// linear, island, linear: the second layer is in the region again.
Observation island_between_layers(const Impl& impl, const Case& in) {
  stand_as_caller(in);
  const auto input = in.copies("input").front();
  const auto weight = torch::eye(input.size(-1)).requires_grad_(true);
  const Watched op{in.word("op"), word_or(in, "throws", "nothing")};
  const auto first = at::linear(input, weight);
  const auto result = impl.in_float32(op, first);
  Observation seen;
  const auto second = result.defined() ? at::linear(result, weight) : result;
  return seen.add_word("dtype_before_the_island", dtype_of(first))
      .add_word("dtype_that_op_gets", *op.dtype)
      .add_word("dtype_behind_the_island", dtype_of(second));
}

GRADLAB_EXPERIMENTS(autocast, island, island_that_throws, island_between_layers)

}  // namespace
