// What a monitor learns from the AMP library's calls.
#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include <algorithm>

#include "errors.hpp"
#include "guarded.hpp"
#include "monitor_impl.hpp"

namespace gradlab::monitor {
namespace {

constexpr size_t kMostLosses = 64;  // kept of a window's micro-batches

}  // namespace

void Monitor::Impl::on_end(const amp::Event& event) noexcept {
  guarded([&] {
    if (event.call == amp::Call::kClipGradsWithNorm) {
      if (!event.failed) note_clip(event);
      return;
    }
    if (event.scaler == nullptr || event.scaler != precision_.scaler()) return;
    if (event.call == amp::Call::kScale) {
      updated_ = false;
      for (const at::Tensor& loss : event.tensors) {
        if (losses_.size() < kMostLosses && loss.defined()) losses_.push_back(loss.detach());
      }
    } else if (event.call == amp::Call::kUnscale) {
      note_unscale(event);
    } else if (event.call == amp::Call::kUpdate) {
      updated_ = true;
      losses_.clear();
      finish_window();
    }
  });
}

void Monitor::Impl::note_clip(const amp::Event& event) {
  const bool ours = std::any_of(event.tensors.begin(), event.tensors.end(),
                                [&](const at::Tensor& tensor) { return table_.has(tensor); });
  if (!ours) return;
  // Without a scaler a step has no end of its own: the first clip shows on which side step() is.
  const bool scaled = precision_.scaler() != nullptr && precision_.scaler()->is_enabled();
  if (!window_ && !scaled) clips_first_ = true;
  const bool before = !window_ || (clips_first_ && !scaled);
  if (before && !scaled) finish_window();
  const Clip clip{event.limit, event.total_norm};
  clips_.push_back(clip);
  if (!before || plain()) return;
  const double coefficient = clip.coefficient();
  if (!(coefficient > 0 && coefficient < 1)) return;
  table_.clipped(event.tensors, coefficient);
  tell_once(told_clipped_, "clipped_before_check", Severity::kInfo, messages::kClippedBefore);
}

void Monitor::Impl::note_unscale(const amp::Event& event) {
  if (plain() || event.optimizer == nullptr || precision_.find(event.optimizer) >= 0) return;
  for (const auto& group : event.optimizer->param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (!table_.has(parameter)) continue;
      tell_once(told_unknown_, "unknown_optimizer", Severity::kWarning,
                messages::kUnknownOptimizer);
      return;
    }
  }
}

}  // namespace gradlab::monitor
