// The AMP library has one place for an observer; this shares it among monitors and with the
// observer that was there before.
#pragma once

#include <mutex>
#include <vector>

#include "gradlab/amp/observer.hpp"

namespace gradlab::monitor {

class CallListener {
 public:
  virtual ~CallListener() = default;
  virtual void on_end(const amp::Event& event) noexcept = 0;
};

class CallHub : public amp::Observer {
 public:
  static CallHub& instance();

  void add(CallListener* listener);
  void remove(CallListener* listener);
  // Takes the place again where nobody has it. Over an observer of someone else it is never put:
  // that one may be gone sooner.
  void stay();

  void begin(const amp::Event& event) noexcept override;
  void end(const amp::Event& event) noexcept override;

 private:
  // Held while listeners are told, so that none goes away in between; they may add and remove.
  std::recursive_mutex mutex_;
  std::vector<CallListener*> listeners_;
  amp::Observer* before_ = nullptr;
};

}  // namespace gradlab::monitor
