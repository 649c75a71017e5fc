// A lab's proofs as text for a terminal.
#pragma once

#include <string>
#include <vector>

#include "doctor/proof.hpp"

namespace gradlab::doctor {

struct View {
  bool colour = false;
  int width = 80;
};

// What holds in a few lines, then a FAIL for each problem with what to do, then the notes. Ends in
// a new line.
std::string say(const std::string& slug, const std::vector<Proof>& proofs, double seconds,
                const View& view);

// A FAIL for each problem with what to do.
std::string say_problems(const std::vector<Proof>& proofs, const View& view);

bool is_green(const std::vector<Proof>& proofs);
bool is_grader_fault(const std::vector<Proof>& proofs);

}  // namespace gradlab::doctor
