#include "judge/own_run.hpp"

#include <optional>
#include <stdexcept>

namespace gradlab {
namespace {

std::optional<OwnRun>& offered() {
  static std::optional<OwnRun> run;
  return run;
}

std::string how_it_ended(const Observation& seen) {
  if (seen.fault == Fault::kNotStarted) return seen.task + " is not written yet";
  if (seen.fault != Fault::kNone) return seen.detail;
  return seen.threw.empty() ? "" : "it threw " + seen.threw;
}

}  // namespace

bool offers_run(OwnRun run) {
  offered() = std::move(run);
  return true;
}

void run_own(Subject& judged, const std::string& seed, const Emit& emit) {
  const auto refuse = [&](const std::string& why) {
    emit({{"event", "no_run"}, {"why", why}, {"offered", offered().has_value()}});
  };
  if (!offered()) return refuse("this lab has no training run");
  Random random(seed, "own_run");
  const Case in = offered()->draw(random);
  const auto seen = judged.observe(offered()->experiment, {in}).front();
  if (const auto end = how_it_ended(seen); !end.empty()) return refuse(end);
  try {
    auto lines = offered()->lines(in, seen);
    if (!lines.empty()) lines.front()["seed"] = seed;
    for (const auto& line : lines) {
      emit({{"event", "line"},
            {"line", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}});
    }
  } catch (const std::runtime_error& error) {
    refuse(error.what());
  }
}

}  // namespace gradlab
