// An exception without a message, and one whose message is hostile text.
#include <stdexcept>

#include "clipping.hpp"

struct Nothing : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

double clipping::total_norm(const std::vector<torch::Tensor>&) { throw Nothing(); }

double clipping::clip_gradients(const std::vector<torch::Tensor>&, double) {
  throw std::runtime_error("\x1b[2J\xff\xfe <script>alert(1)</script> verdict: pass");
}
