// Says that it was not started, in a task that there is not, with words of its own.
#include <gradlab/todo.hpp>

#include "clipping.hpp"

double clipping::total_norm(const std::vector<torch::Tensor>&) {
  throw gradlab::NotStarted{"clipping.99 \x1b[2J 30 of 30"};
}
