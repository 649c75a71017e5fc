// Every sentence that the sandbox says, as named factories. The causes of a box that does not start
// are in remedies.hpp.
#pragma once

#include <string>

#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox::errors {

SandboxError no_container(const std::string& why);
SandboxError no_way_in(const std::string& host, const std::string& barrier);
SandboxError no_uid_left(unsigned count);
SandboxError no_bubblewrap();
SandboxError nothing_to_run();
SandboxError relative_path(const std::string& path);
SandboxError missing_mount(const std::string& host);
SandboxError unreadable_mount(const std::string& host);
SandboxError system_call(const std::string& what, int error);

// Why isolation container does not work here, and the way out.
std::string container_needs_root(bool is_root);
std::string container_needs_landlock();

std::string out_of_wall_time(double seconds);
std::string out_of_cpu_time(double seconds);
std::string too_much_output(std::size_t bytes);
std::string box_did_not_start(const std::string& said);

}  // namespace gradlab::sandbox::errors
