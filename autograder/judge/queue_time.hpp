// How long a runner's processes stood ready and got no core. A machine that is too busy makes a
// hand-in late, and that is not the hand-in's fault.
#pragma once

#include <sys/types.h>

#include <map>

namespace gradlab {

class QueueTime {
 public:
  // Seconds since the last call that one of the threads below `outermost` waited for a core, the
  // longest of them; some seconds, too, where one waits now. 0 where together they have had more
  // than `own_seconds` of CPU (then they are late by their own work), and where the kernel tells
  // nothing (/proc/PID/schedstat). Takes 0.1 s.
  double newly_waited(pid_t outermost, double own_seconds);

 private:
  struct Thread {
    double cpu = 0;  // seconds, as the next
    double waited = 0;
    bool ready = false;  // to run, or running
  };
  using Threads = std::map<pid_t, Thread>;
  static Threads threads_below(pid_t outermost);

  Threads counted_;
};

}  // namespace gradlab
