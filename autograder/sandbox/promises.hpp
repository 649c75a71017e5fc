// What a box promises, and a trial of each promise: a small program (trial_main.cpp) that tries to
// break it in a real box, on this machine.
#pragma once

#include <string>
#include <vector>

#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox {

enum class Kept { kKept, kNotPromised, kBroken };

struct Tried {
  std::string promise;  // "no network"
  Kept kept = Kept::kKept;
  std::string why;  // of kBroken: what the program reached
};

// The promises in words, in the order of try_promises.
std::vector<std::string> promises();

// Tries all of them in boxes of this isolation. A promise that it does not make is not tried; with
// `all` (never isolation none, which holds nothing) it is, and told as kKept or kBroken. `program`:
// the path of sandbox_trial. Throws SandboxError.
std::vector<Tried> try_promises(Isolation isolation, const std::string& program, bool all = false);

}  // namespace gradlab::sandbox
