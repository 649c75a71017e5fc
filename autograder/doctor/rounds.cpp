#include "doctor/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace gradlab::doctor {
namespace {

struct Slot {
  size_t round;
  size_t job;
};

}  // namespace

size_t good(const std::vector<Problems>& found) {
  return static_cast<size_t>(
      std::count_if(found.begin(), found.end(), [](const Problems& all) { return all.empty(); }));
}

std::vector<Proof> run(const std::vector<Round>& rounds, const Place& place, const Runs& runs) {
  std::vector<std::vector<Problems>> found(rounds.size());
  std::vector<Slot> slots;
  for (size_t r = 0; r < rounds.size(); ++r) {
    found[r].resize(rounds[r].jobs.size());
    for (size_t j = 0; j < rounds[r].jobs.size(); ++j) slots.push_back({r, j});
  }
  std::atomic<size_t> next{0};
  std::mutex mutex;
  size_t done = 0;
  const auto body = [&] {
    // A worker's boxes die with the thread that started them, so it stays in one thread.
    pipeline::Worker worker(place.lab, place.setup);
    for (size_t i = next++; i < slots.size(); i = next++) {
      Problems problems;
      try {
        problems = rounds[slots[i].round].jobs[slots[i].job](worker);
      } catch (const std::exception& error) {
        problems.push_back({error.what(), "", true});
      }
      const std::lock_guard lock(mutex);
      found[slots[i].round][slots[i].job] = std::move(problems);
      if (runs.on_progress) runs.on_progress(++done, slots.size());
    }
  };
  std::vector<std::thread> threads;
  const size_t jobs = std::clamp<size_t>(static_cast<size_t>(runs.jobs), 1, slots.size());
  threads.reserve(jobs);
  for (size_t t = 0; t < jobs; ++t) threads.emplace_back(body);
  for (auto& thread : threads) thread.join();

  std::vector<Proof> proofs;
  for (size_t r = 0; r < rounds.size(); ++r) {
    Proof proof;
    proof.said = rounds[r].say(found[r]);
    for (auto& problems : found[r]) {
      std::move(problems.begin(), problems.end(), std::back_inserter(proof.problems));
    }
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

std::vector<std::string> seeds(int count) {
  std::vector<std::string> all;
  for (int i = 1; i <= count; ++i) all.push_back(std::to_string(i));
  return all;
}

record::Start start_of(const std::string& name, const std::string& seed, const Place& place) {
  return {name, seed, sandbox::to_string(place.setup.isolation), true, 1, std::nullopt};
}

Problem fault(const std::string& who, const Record& record) {
  return {fmt::format("{}: the grader failed: {}", who, record.message), "", true};
}

}  // namespace gradlab::doctor
