#include "call_hub.hpp"

#include <algorithm>

namespace gradlab::monitor {

// Never destroyed: another observer may still have it as the one to go back to.
CallHub& CallHub::instance() {
  static CallHub* const hub = new CallHub;
  return *hub;
}

void CallHub::add(CallListener* listener) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  listeners_.push_back(listener);
  if (listeners_.size() > 1 || amp::observer() == this) return;
  before_ = amp::set_observer(this);
}

void CallHub::remove(CallListener* listener) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), listener), listeners_.end());
  if (!listeners_.empty() || amp::observer() != this) return;
  amp::set_observer(before_);
  before_ = nullptr;
}

void CallHub::stay() {
  if (amp::observer() != nullptr) return;
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  before_ = nullptr;
  amp::set_observer(this);
}

void CallHub::begin(const amp::Event& event) noexcept {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (before_ != nullptr) before_->begin(event);
}

void CallHub::end(const amp::Event& event) noexcept {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  for (size_t i = 0; i < listeners_.size(); ++i) listeners_[i]->on_end(event);
  if (before_ != nullptr) before_->end(event);
}

}  // namespace gradlab::monitor
