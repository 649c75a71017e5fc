// The trials of sandbox_trial: each tries to break one promise of the box that it runs in, and
// prints a line for each thing that it reached.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace gradlab::trial {

using Words = std::vector<std::string>;

inline void got(bool reached, const std::string& what) {
  if (reached) std::printf("%s\n", what.c_str());
}

void read_files(const Words& words);
void write_files(const Words& words);
void empty_files(const Words& words);
void sockets(const Words& words);
void signals(const Words& words);
void forks(const Words& words);
void memory(const Words& words);
[[noreturn]] void burn(const Words& words);
void large_file(const Words& words);
void many_files(const Words& words);
void open_files(const Words& words);
[[noreturn]] void flood(const Words& words);
void capabilities(const Words& words);
void namespaces(const Words& words);
void trace(const Words& words);
void kernel(const Words& words);
void shared_memory(const Words& words);
void daemon_left(const Words& words);
void environment(const Words& words);
void descriptors(const Words& words);
void temporary(const Words& words);
void see(const Words& words);
void see_process(const Words& words);
void path(const Words& words);
void host_name(const Words& words);

}  // namespace gradlab::trial
