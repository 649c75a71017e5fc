// Puts back what a hand-in can move on its thread: autocast, grad mode, the default dtype, the
// number of threads, the default generator. So nothing that one case leaves behind meets the next,
// in any lab.
#pragma once

namespace gradlab {

// As a new process has it, with one thread: autocast off in bfloat16, its cache on and empty, no
// region open, gradients on, float32, the default generator at its first number.
void clean_thread();

// Clean at both ends of its life.
class CleanThread {
 public:
  CleanThread() { clean_thread(); }
  ~CleanThread() { clean_thread(); }
  CleanThread(const CleanThread&) = delete;
  CleanThread& operator=(const CleanThread&) = delete;
};

}  // namespace gradlab
