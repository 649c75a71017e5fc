// A trace of tests/golden/monitor (or of GRADLAB_GOLDEN/monitor): its inputs rebuilt as a model, an
// optimizer and a scaler that are played step by step.
#pragma once

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "gradlab/amp/grad_scaler.hpp"
#include "gradlab/monitor/monitor.hpp"

namespace traces {

using Json = nlohmann::json;

struct Trace {
  std::string name;
  Json body;
};
inline void PrintTo(const Trace& trace, std::ostream* out) { *out << trace.name; }

// Every trace there is. Throws where there is none.
std::vector<Trace> all();

// "inf", "-inf", "nan" or a number.
double number(const Json& json);

// Plays a trace with a monitor of the plain rules.
class Player {
 public:
  explicit Player(const Json& trace);

  // Plays the step; what was told at it is in `events`.
  void play(const Json& step);

  gradlab::monitor::Monitor& monitor() { return *monitor_; }
  std::vector<gradlab::monitor::Event> events;
  std::vector<gradlab::monitor::StepRecord> records;
  double scale_after = 0;

 private:
  void set_gradients(const Json& step);
  gradlab::monitor::Options options();

  Json trace_;
  std::vector<gradlab::monitor::Layer> layers_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::unique_ptr<gradlab::amp::GradScaler> scaler_;
  std::unique_ptr<gradlab::monitor::Monitor> monitor_;
};

}  // namespace traces
