// What the plans of all isolations are made of: limits, mounts that hold, the environment.
#pragma once

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox {

bool exists(const std::string& path);

// A machine may have set a lower limit for its users; a hard limit cannot be raised.
rlim_t allowed(int which, double wanted);

// What counts everywhere. Soft and hard limit are one: between them clang would meet SIGXCPU, and
// answer it with a crash report.
struct Limit {
  int which;
  const char* option;  // of prlimit
  rlim_t value;
};
std::vector<Limit> compile_limits(const Limits& limits);

// Throws SandboxError kBadCommand for what no isolation can run.
void check(const Command& command);

// Makes the writable folder the uid's. Throws SandboxError kStart.
void give(const Mount& mount, uid_t uid);
bool readable_by_all(const struct stat& found);

// PATH=..., then the command's own.
std::vector<std::string> environment_of(const Command& command, const std::string& path);

}  // namespace gradlab::sandbox
