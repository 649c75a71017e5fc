// judge_<slug>: the trusted side. It holds checks, reference and known mistakes, and never loads,
// links or reads a student's code.
#include <ATen/Parallel.h>
#include <signal.h>
#include <torch/types.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "judge/built_in.hpp"
#include "judge/run_check.hpp"
#include "judge/server.hpp"

namespace {

// Done once here, so that no forked child pays for LibTorch's first operation and first backward.
void warm_up() {
  at::set_num_threads(1);
  const auto x = torch::ones({4}, torch::TensorOptions().requires_grad(true));
  (x * x).sum().backward();
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  warm_up();
  gradlab::prepare_gtest();
  const std::string_view verb = argc > 1 ? argv[1] : "";
  int status = 2;
  try {
    if (verb == "--list") {
      status = gradlab::print_contents();
    } else if (verb == "--self" && argc > 2) {
      const bool seeded = argc > 4 && std::string_view(argv[3]) == "--seed";
      status = gradlab::grade_built_in(argv[2], seeded ? argv[4] : "1");
    } else if (verb == "--serve") {
      status = gradlab::serve_orders();
    } else {
      std::fputs("usage: judge_<lab> --serve | --list | --self SUBJECT [--seed S]\n", stderr);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 3;
  }
  std::fflush(nullptr);
  _exit(status);
}
