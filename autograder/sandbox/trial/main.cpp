// sandbox_trial WORD...: runs one trial, then prints "tried". promises.cpp starts it.
#include <unistd.h>

#include "sandbox/trial/trials.hpp"

namespace gradlab::trial {
namespace {

constexpr struct {
  const char* word;
  void (*run)(const Words& words);
} kTrials[] = {{"read", read_files},
               {"write", write_files},
               {"empty", empty_files},
               {"sockets", sockets},
               {"signals", signals},
               {"forks", forks},
               {"memory", memory},
               {"burn", burn},
               {"large_file", large_file},
               {"many_files", many_files},
               {"open_files", open_files},
               {"flood", flood},
               {"capabilities", capabilities},
               {"namespaces", namespaces},
               {"trace", trace},
               {"kernel", kernel},
               {"shared_memory", shared_memory},
               {"daemon", daemon_left},
               {"environment", environment},
               {"descriptors", descriptors},
               {"temporary", temporary},
               {"see", see},
               {"see_process", see_process},
               {"path", path},
               {"hostname", host_name}};

int run(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  for (const auto& trial : kTrials) {
    if (word != trial.word) continue;
    trial.run(Words(argv + 2, argv + argc));
    std::puts("tried");
    std::fflush(nullptr);
    _exit(0);
  }
  return 2;
}

}  // namespace
}  // namespace gradlab::trial

int main(int argc, char** argv) { return gradlab::trial::run(argc, argv); }
