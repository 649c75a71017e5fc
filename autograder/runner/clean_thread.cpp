#include "runner/clean_thread.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <torch/types.h>

namespace gradlab {
namespace {

namespace autocast = at::autocast;

void clean_autocast() {
  autocast::clear_cache();
  autocast::set_autocast_enabled(at::kCUDA, false);
  autocast::set_autocast_enabled(at::kCPU, false);
  autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  autocast::set_autocast_cache_enabled(true);
  // The depth can be read only by moving it, and may have been left below 0, too: to 1, then to 0.
  while (autocast::decrement_nesting() > 0) {
  }
  while (autocast::increment_nesting() < 1) {
  }
  autocast::decrement_nesting();
}

}  // namespace

void clean_thread() {
  clean_autocast();
  c10::GradMode::set_enabled(true);
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  if (at::get_num_threads() != 1) at::set_num_threads(1);
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(c10::default_rng_seed_val);
}

}  // namespace gradlab
