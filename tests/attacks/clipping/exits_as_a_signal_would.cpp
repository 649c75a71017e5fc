// The status that a shell gives a crash, without one.
#include <unistd.h>

#include "clipping.hpp"

double clipping::total_norm(const std::vector<torch::Tensor>&) { _exit(139); }
