// The loss scale over steps: skips in a row, a scale at its floor.
#pragma once

#include "context.hpp"
#include "numbers.hpp"

namespace gradlab::monitor {

class ScaleWatch {
 public:
  // A step that is over: whether it was skipped, and at which scale.
  void look(const Context& context, bool skipped, double scale);
  void exchange(Numbers& numbers);

 private:
  int64_t streak_ = 0;
  int64_t next_told_ = 0;
  bool at_floor_ = false;
};

}  // namespace gradlab::monitor
