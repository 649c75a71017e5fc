// A region of autocast as a C++ scope: what `with torch.autocast(...)` is in Python.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <optional>

#include "gradlab/amp/error.hpp"
#include "gradlab/amp/observer.hpp"

namespace gradlab::amp {

// While the guard lives, eligible ops of its thread on `device` compute in `dtype`. Regions nest;
// an inner one may disable, or change the dtype. On the way out, by an exception too, the enabled
// flag, dtype and cache flag that the guard found come back. Other threads are not touched: a
// std::thread begins outside every region; autograd's own threads follow the thread that called
// backward.
//
//   at::Tensor loss;
//   {
//     gradlab::amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
//     loss = torch::mse_loss(model->forward(x), y);
//   }
//   loss.backward();  // outside
//
// LibTorch keeps the low-precision copies of weights and only ever drops them when told: without
// this guard a C++ loop trains on stale weights. It clears the copies
// - where an outermost region ends, as Python does; also where it begins, as others may have left
// some;
// - where a nested region with another dtype begins and ends. Python does not: its cache knows a
//   weight's copy but not the copy's dtype, and serves float16 to a bfloat16 region.
// Inside one region an optimizer's step is not seen, as in Python: make a region for each forward.
// The cache is one for all threads: two threads that run the same weights in two dtypes at a time
// need cache_enabled = false.
class AutocastGuard {
 public:
  // dtype: float16 or bfloat16; none for the one in force (outside every region bfloat16 on the
  // CPU, float16 on CUDA). cache_enabled: none leaves the flag as it is, which is true outside
  // every region.
  // THROWS Error kAutocastDevice: a device without autocast; kWrongDevice: a region enabled for
  // CUDA
  //   where this machine has none; kAutocastDtype: an enabled region in another dtype. Python warns
  //   in the last two cases and goes on in float32: a run without the speed, memory and numerics
  //   that were asked for is found late, so here it is refused. Disabled regions take any dtype.
  // ENSURES: where it throws, autocast's state is as before.
  // SOURCE: torch.amp.autocast_mode.autocast.
  explicit AutocastGuard(c10::DeviceType device,
                         std::optional<c10::ScalarType> dtype = std::nullopt, bool enabled = true,
                         std::optional<bool> cache_enabled = std::nullopt);

  // REQUIRES: on the thread that made the guard; inner guards end first, as scopes do.
  ~AutocastGuard();

  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

  // How many regions this thread is in, disabled ones too.
  static int depth() noexcept;

 private:
  Event event() const;

  // What the guard found.
  struct State {
    bool enabled;
    c10::ScalarType dtype;
    bool cache_enabled;
  };

  c10::DeviceType device_;
  State before_;
  c10::ScalarType dtype_;
  bool enabled_;
  Observer* observer_;
  int exceptions_;
};

}  // namespace gradlab::amp
