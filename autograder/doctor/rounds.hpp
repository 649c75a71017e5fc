// Jobs of several proofs, done together so that no core waits at the end of each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/implementations.hpp"

namespace gradlab::doctor {

// What is wrong with one implementation; empty when nothing is.
using Problems = std::vector<Problem>;

struct Round {
  std::vector<std::function<Problems(pipeline::Worker&)>> jobs;
  std::function<std::string(const std::vector<Problems>&)> say;  // an entry a job
};

// How many jobs found no problem.
size_t good(const std::vector<Problems>& found);

std::vector<Proof> run(const std::vector<Round>& rounds, const Place& place, const Runs& runs);

// The rounds. Files of ours as a student's (hand_ins.cpp):
Round skeleton(const Place& place);
Round right_answers(const Place& place, int seed_count);
// What the judge is built with (built_ins.cpp):
Round idle_answers(const Place& place, int seed_count);
Round reference(const Place& place, int seed_count);
Round bugs(const Place& place, int seed_count);

// What they share.
std::vector<std::string> seeds(int count);  // "1", "2", …; "1" is the seed of `check`
record::Start start_of(const std::string& name, const std::string& seed, const Place& place);
Problem fault(const std::string& who, const Record& record);

}  // namespace gradlab::doctor
