// What /proc says of processes that are not ours, or no longer.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace gradlab::sandbox {

// The entries of /proc, or of a process's task/, that are numbers. Empty where it cannot be read.
std::vector<pid_t> numbers_in(const std::filesystem::path& folder);

// What follows the name in a stat file: "R 1234 …", state and parent first; empty when it is gone.
// A name may hold anything.
std::string stat_after_name(const std::filesystem::path& stat);

// Of a process of this name space; 0 when it is gone.
pid_t parent_of(pid_t pid);

}  // namespace gradlab::sandbox
