// The proofs that run code, on all cores: the skeleton, the do-nothing answers, the reference, the
// known mistakes and the right answers, each as a hand-in or a built-in implementation is graded.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "doctor/contents.hpp"
#include "doctor/proof.hpp"
#include "pipeline/pipeline.hpp"

namespace gradlab::doctor {

struct Runs {
  int seeds = 20;     // for the reference and the right answers
  int of_others = 5;  // for bugs and do-nothing answers, which have no share in a student's points
  int jobs = 1;
  // Called after each job, one at a time, from any thread.
  std::function<void(size_t done, size_t of)> on_progress;
};

struct Place {
  const Manifest& lab;
  const pipeline::Setup& setup;
  const Contents& contents;
};

// REQUIRES: the lab is built and its precompiled header prepared. Throws where no hand-in can be
// graded at all.
std::vector<Proof> implementations(const Place& place, const Runs& runs);

}  // namespace gradlab::doctor
