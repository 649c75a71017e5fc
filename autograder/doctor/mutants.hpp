// What a lab's known mistakes say about its checks: which kill which, which mistakes look the same
// from outside, and how small the cases are that show them.
#pragma once

#include <string>
#include <vector>

#include "doctor/implementations.hpp"
#include "doctor/say.hpp"

namespace gradlab::doctor {

// A known mistake as it is graded with the seed of `check`.
struct Mutant {
  std::string bug;
  std::vector<std::string> killed_by;  // names of the checks that it fails
  std::vector<std::string> named;      // mistakes that the diagnosis names, the likeliest first
  // Of the case that its first failed check is shown on; 0 where it is too large to be kept.
  std::size_t tensors = 0;   // of the longest list: parameters, or steps
  std::size_t elements = 0;  // of the largest of them
};

struct Mutation {
  std::vector<Mutant> mutants;  // in the order of the judge's list
  std::vector<Proof> proofs;    // that all are killed; do-nothing answers; right answers
};

// REQUIRES: as implementations(). Throws as it.
Mutation mutate(const Place& place, const Runs& runs);

// Lines for a terminal, ending in a new line.
std::string say(const Manifest& lab, const Mutation& mutation, const View& view);

}  // namespace gradlab::doctor
