// One order to the judge, from the hand-in to the last event: compile, judge, gather.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/pipeline.hpp"

namespace gradlab::pipeline {

class Worker::Run {
 public:
  Run(Worker& worker, const record::Start& start);

  std::function<void(const Record&)> on_verdicts;
  std::function<void(const nlohmann::json&)> on_event;  // for events that no record takes

  // The part of an order that every kind has: checks, seed, limits.
  nlohmann::json order(const record::Start& start) const;
  // Compiles and has the judge look at the result.
  void compile_and_judge(const intake::HandIn& hand_in, nlohmann::json order, bool overlap);
  // For an implementation that the judge was built with.
  void judge(const nlohmann::json& order);
  // The settled record. REQUIRES: called once, at the end.
  Record finish();

 private:
  void add_runner(nlohmann::json& order, const std::filesystem::path& library_dir) const;
  void hand_over(nlohmann::json& order, const std::string& library, bool overlap);
  void listen();
  bool take(const std::string& kind, const nlohmann::json& event);  // true when it was the last
  void judge_is_gone();

  Worker& worker_;
  Record record_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace gradlab::pipeline
