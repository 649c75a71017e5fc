#include "gradlab/monitor/monitor.hpp"

#include "guarded.hpp"
#include "monitor_impl.hpp"

namespace gradlab::monitor {

Monitor::Monitor(const Model& model, torch::optim::Optimizer& optimizer, const Options& options)
    : impl_(std::make_unique<Impl>(model, std::vector<torch::optim::Optimizer*>{&optimizer},
                                   options)) {}

Monitor::Monitor(const Model& model, const std::vector<torch::optim::Optimizer*>& optimizers,
                 const Options& options)
    : impl_(std::make_unique<Impl>(model, optimizers, options)) {}

Monitor::Monitor(const Model& model, const Options& options)
    : impl_(std::make_unique<Impl>(model, std::vector<torch::optim::Optimizer*>(), options)) {}

Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&& other) noexcept {
  close();
  impl_ = std::move(other.impl_);
  return *this;
}
Monitor::~Monitor() { close(); }

void Monitor::step(const at::Tensor& loss) noexcept {
  impl_->guarded([&] { impl_->step([&] { return loss_value(loss); }); });
}

void Monitor::step(double loss) noexcept {
  LossValue value;
  value.value = loss;
  impl_->guarded([&] { impl_->step([&] { return value; }); });
}

void Monitor::close() noexcept {
  if (impl_) impl_->guarded([&] { impl_->close(); });
}

int64_t Monitor::steps() const noexcept { return impl_->steps_; }
int64_t Monitor::checks() const noexcept { return impl_->checks_; }
const Counts& Monitor::counts() const noexcept { return impl_->journal_.counts; }
const LayerNorms& Monitor::norms() const noexcept { return impl_->norms_; }
std::optional<double> Monitor::loss() const noexcept { return impl_->loss_; }

std::vector<std::pair<std::string, std::string>> Monitor::alarms() const {
  return impl_->rules_->alarms();
}

std::string Monitor::state() const { return impl_->state(); }
void Monitor::load_state(const std::string& json) { impl_->load_state(json); }

}  // namespace gradlab::monitor
