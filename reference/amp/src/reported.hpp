// Reports a call's begin and end to the observer, if there is one.
#pragma once

#include <exception>
#include <utility>

#include "gradlab/amp/observer.hpp"

namespace gradlab::amp {

// Stands at the top of a reported call; its end is the call's end. The event is only made where
// there is an observer: `make` returns it.
class Reported {
 public:
  template <typename Make>
  explicit Reported(const Make& make) noexcept : observer_(observer()) {
    if (observer_ == nullptr) return;
    exceptions_ = std::uncaught_exceptions();
    event_ = make();
    observer_->begin(event_);
  }
  ~Reported() {
    if (observer_ == nullptr) return;
    event_.failed = std::uncaught_exceptions() > exceptions_;
    observer_->end(event_);
  }
  Reported(const Reported&) = delete;
  Reported& operator=(const Reported&) = delete;

  // What is known only at the end.
  void stepped(bool value) noexcept { event_.stepped = value; }
  at::Tensor total_norm(at::Tensor norm) noexcept {
    if (observer_ != nullptr) event_.total_norm = norm;
    return norm;
  }

 private:
  Observer* observer_;
  int exceptions_ = 0;
  Event event_;
};

}  // namespace gradlab::amp
