#include "thread_state.hpp"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>

#include <map>
#include <new>
#include <stdexcept>
#include <string_view>

#include "gradlab/todo.hpp"
#include "protocol/tensors.hpp"
#include "runner/clean_thread.hpp"

namespace gradlab::autocast_lab {
namespace {

namespace state = at::autocast;

constexpr const char* kMessage = "the model refuses this batch";
constexpr int kNumber = 7;

int depth_now() {
  const int inside = state::increment_nesting();
  state::decrement_nesting();
  return inside - 1;
}

void put(const ThreadState& wanted) {
  clean_thread();
  state::set_autocast_enabled(at::kCPU, wanted.enabled);
  state::set_autocast_dtype(at::kCPU, wanted.dtype);
  state::set_autocast_cache_enabled(wanted.cache);
  for (int depth = 0; depth < wanted.depth; ++depth) state::increment_nesting();
  torch::GradMode::set_enabled(wanted.gradients);
}

ThreadState named(const std::string& caller) {
  using torch::kBFloat16, torch::kHalf;
  static const std::map<std::string, ThreadState> kCallers{
      {"outside every region", {}},
      {"outside, with dtype float16 set", {.dtype = kHalf}},
      {"outside, with the cache off", {.cache = false}},
      {"outside, without gradients", {.gradients = false}},
      {"in a float16 region", {.enabled = true, .dtype = kHalf, .depth = 1}},
      {"in a bfloat16 region", {.enabled = true, .dtype = kBFloat16, .depth = 1}},
      {"in two float16 regions", {.enabled = true, .dtype = kHalf, .depth = 2}},
      {"in a float16 region with the cache off",
       {.enabled = true, .dtype = kHalf, .cache = false, .depth = 1}},
      {"in a disabled float16 region", {.dtype = kHalf, .depth = 1}},
  };
  return kCallers.at(caller);
}

const char* on_or_off(bool on) { return on ? "on" : "off"; }

}  // namespace

std::string state_in_words() {
  const auto default_dtype = c10::get_default_dtype_as_scalartype();
  std::string words = fmt::format("autocast {}, dtype {}, cache {}, depth {}, gradients {}",
                                  on_or_off(state::is_autocast_enabled(at::kCPU)),
                                  protocol::dtype_name(state::get_autocast_dtype(at::kCPU)),
                                  on_or_off(state::is_autocast_cache_enabled()), depth_now(),
                                  on_or_off(torch::GradMode::is_enabled()));
  if (state::is_autocast_enabled(at::kCUDA)) words += ", autocast on for CUDA";
  if (default_dtype != torch::kFloat32) {
    words += ", default dtype " + protocol::dtype_name(default_dtype);
  }
  return words;
}

std::string region_in_words() {
  if (!state::is_autocast_enabled(at::kCPU)) return "autocast off";
  return "autocast on in " + protocol::dtype_name(state::get_autocast_dtype(at::kCPU));
}

void stand_as_caller(const Case& in) { put(named(in.word("caller"))); }

void enter_region(torch::ScalarType dtype) {
  state::set_autocast_enabled(at::kCPU, true);
  state::set_autocast_dtype(at::kCPU, dtype);
}

torch::ScalarType dtype_named(const std::string& name) {
  return name == "float16" ? torch::kHalf : torch::kBFloat16;
}

std::string word_or(const Case& in, const std::string& name, const std::string& otherwise) {
  try {
    return in.word(name);
  } catch (const std::out_of_range&) {
    return otherwise;
  }
}

void throw_as(const std::string& kind) {
  if (kind == "std::out_of_range") throw std::out_of_range(kMessage);
  if (kind == "a number") throw kNumber;
}

void watch_exception(Observation& seen, const std::function<void()>& body) {
  std::string came = "none";
  try {
    body();
  } catch (const NotStarted&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::out_of_range& error) {
    came = std::string_view(error.what()) == kMessage ? kOwn : "another std::out_of_range";
  } catch (int number) {
    came = number == kNumber ? kOwn : "another number";
  } catch (const std::exception& error) {
    came = "another std::exception";
    seen.add_word("what", first_sentence(error.what()));
  } catch (...) {
    came = "something that is no std::exception";
  }
  seen.add_word("exception_that_comes_out", came);
}

void watch_error(Observation& seen, const std::function<void()>& body) {
  std::string message = "none";
  try {
    body();
  } catch (const c10::Error& error) {
    // Out of memory is a verdict of its own.
    if (std::string_view(error.what()).find("DefaultCPUAllocator") != std::string_view::npos) throw;
    message = fmt::format("\"{}\"", first_sentence(error.what()));
  }
  seen.add_word("error_of_LibTorch", message);
}

}  // namespace gradlab::autocast_lab
