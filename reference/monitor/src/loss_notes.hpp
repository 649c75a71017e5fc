// What is told of how a loss was handed in, each once a run.
#pragma once

#include "context.hpp"
#include "loss_value.hpp"

namespace gradlab::monitor {

class LossNotes {
 public:
  void look(const Context& context, const LossValue& loss, double scale);

 private:
  bool reduced_ = false, complex_ = false, scaled_ = false;
};

}  // namespace gradlab::monitor
