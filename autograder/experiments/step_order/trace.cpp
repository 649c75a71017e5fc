#include "experiments/step_order/trace.hpp"

#include <algorithm>

namespace gradlab::step_order_runs {
namespace {

constexpr size_t kLongest = 3800;  // a word of an observation holds 4096

bool is_zero(const torch::Tensor& gradient) {
  if (!gradient.is_contiguous() || gradient.scalar_type() != torch::kFloat32) return false;
  const float* data = gradient.const_data_ptr<float>();
  return std::all_of(data, data + gradient.numel(), [](float value) { return value == 0; });
}

std::string text_of(const amp::Event& event) {
  if (event.call != amp::Call::kAutocast) return amp::name(event.call);
  if (!event.enabled) return "autocast (disabled)";
  return event.dtype == torch::kHalf ? "autocast float16" : "autocast bfloat16";
}

// A clip's own parts are not told: they are one call to whoever reads.
bool is_told(amp::Call call) {
  return call != amp::Call::kGetTotalNorm && call != amp::Call::kClipGradsWithNorm;
}

}  // namespace

void Trace::watch(const std::vector<torch::Tensor>& weights) {
  weights_.insert(weights_.end(), weights.begin(), weights.end());
}

bool Trace::any_gradient() const {
  return std::any_of(weights_.begin(), weights_.end(), [](const torch::Tensor& weight) {
    return weight.grad().defined() && !is_zero(weight.grad());
  });
}

void Trace::watch(std::shared_ptr<const int64_t> updates) {
  updates_ = std::move(updates);
  updates_told_ = *updates_;
}

void Trace::write(const std::string& text) {
  if (text_.size() <= kLongest) text_ += text + "\n";
}

void Trace::catch_up() {
  const bool has_gradients = any_gradient();
  if (had_gradients_ && !has_gradients) write("zero_grad");
  had_gradients_ = has_gradients;
  if (!updates_ || *updates_ == updates_told_) return;
  const bool once = *updates_ == updates_told_ + 1;
  write(once ? "progress.follow" : "progress.updates is now " + std::to_string(*updates_));
  updates_told_ = *updates_;
}

void Trace::line(const std::string& text) {
  catch_up();
  write(text);
}

void Trace::begin(const amp::Event& event) noexcept {
  if (event.call == amp::Call::kStep) ++inside_step_;
  if (is_told(event.call)) line(text_of(event));
}

void Trace::end(const amp::Event& event) noexcept {
  if (event.call == amp::Call::kStep) --inside_step_;
  if (event.call == amp::Call::kAutocast) {
    line("autocast ends");
  } else if (event.failed && is_told(event.call)) {
    line("  threw");
  } else if (event.call == amp::Call::kStep && !event.stepped) {
    line("  skipped");
  }
}

}  // namespace gradlab::step_order_runs
