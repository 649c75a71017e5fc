// Why a box does not start on this machine, and the lines that mend it: the known failures of
// bubblewrap, recognised by what it said.
#pragma once

#include <string>

namespace gradlab::sandbox {

struct Remedy {
  std::string why;    // a sentence
  std::string lines;  // what to do, with line ends
};

// What the machine says about itself, so that the recognition can be tested without such a machine.
struct Machine {
  bool apparmor_restricts = false;  // kernel.apparmor_restrict_unprivileged_userns = 1
  bool clone_forbidden = false;     // kernel.unprivileged_userns_clone = 0 (older Debian)
  bool no_namespaces = false;       // user.max_user_namespaces = 0
  bool in_container = false;        // Docker, Podman, Kubernetes
};
Machine this_machine();

// `said`: the output of bubblewrap, or the message of the call that failed before it.
Remedy remedy_for(const std::string& said, const Machine& machine);
Remedy remedy_without_bubblewrap();
Remedy remedy_for_leak(const std::string& what);  // it started, and something could be reached

}  // namespace gradlab::sandbox
