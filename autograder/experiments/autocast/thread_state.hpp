// What autocast knows about the thread: read, and put as a caller may have it.
#pragma once

#include <torch/types.h>

#include <functional>
#include <string>

#include "protocol/case.hpp"
#include "protocol/observation.hpp"

namespace gradlab::autocast_lab {

struct ThreadState {
  bool enabled = false;
  torch::ScalarType dtype = torch::kBFloat16;  // LibTorch's own for the CPU
  bool cache = true;
  int depth = 0;
  bool gradients = true;
};

// "autocast off, dtype bfloat16, cache on, depth 0, gradients on"; what else a run may have moved
// (the default dtype, CUDA's autocast) is named where it is not as usual.
std::string state_in_words();
// "autocast on in float16", or "autocast off".
std::string region_in_words();

// Puts this thread into the state that the case's word "caller" names; clean_thread() leaves it.
void stand_as_caller(const Case& in);

// Opens a region as someone would who knows of no cache: copies that are there are served.
void enter_region(torch::ScalarType dtype);

torch::ScalarType dtype_named(const std::string& name);

// The case's word of that name, or what it means where the case has none.
std::string word_or(const Case& in, const std::string& name, const std::string& otherwise);

// What comes out of `body`, into whose way the case's own exception comes: the word
// "exception_that_comes_out" is kOwn for that one.
void watch_exception(Observation& seen, const std::function<void()>& body);
constexpr const char* kOwn = "the one that was thrown";
// "std::out_of_range", "a number", or "nothing": then it returns.
void throw_as(const std::string& kind);

// Runs `body`; the word "error_of_LibTorch" is its message, or "none". By its words: the type alone
// would make all of LibTorch's errors one.
void watch_error(Observation& seen, const std::function<void()>& body);

}  // namespace gradlab::autocast_lab
