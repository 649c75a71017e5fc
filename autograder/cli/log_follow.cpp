#include "cli/log_follow.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <cmath>

#include "render/terminal.hpp"
#include "training_log/number.hpp"
#include "training_log/output/text.hpp"
#include "training_log/reading.hpp"

namespace gradlab::cli {
namespace {

constexpr int kLookEvery = 200;  // ms

volatile sig_atomic_t stopped = 0;
void on_stop(int) { stopped = 1; }

// One line a step that is worth one, and a state line now and then.
class Teller {
 public:
  explicit Teller(const Session& session) : session_(session) {}

  void step(const training_log::Step& step) {
    ++steps_;
    const bool skipped = step.skipped.value_or(false) || step.skips.value_or(0) > 0;
    const bool bad = step.loss && !std::isfinite(*step.loss);
    const bool moved = last_scale_ && step.scale && *step.scale != *last_scale_ && !last_skipped_;
    if (skipped || bad || moved || steps_ == 1) tell(step, skipped);
    last_scale_ = step.scale_after ? step.scale_after : step.scale;
    last_skipped_ = skipped && !step.scale_after;
    last_ = step;
  }

  void event(const training_log::Event& event) {
    if (event.name == "run_end") ended_ = true;
    const bool loud = event.severity && *event.severity != training_log::Severity::kInfo;
    if (loud) {
      print(render::printable(fmt::format("step {:>8}  the log reports {} ({}) {}",
                                          event.step.value_or(0), event.name,
                                          training_log::word_of(*event.severity), event.text)) +
            "\n");
    }
  }

  // Where the log stands, when it went on since the last time this was said.
  void state() {
    if (steps_ == told_steps_ || !last_.step) return;
    told_steps_ = steps_;
    tell(last_, false);
  }

  bool has_ended() const { return ended_; }

 private:
  void tell(const training_log::Step& step, bool skipped) {
    std::string line = fmt::format("step {:>8}", *step.step);
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) line += fmt::format("  {} {:<8}", name, training_log::shown(*value));
    };
    add("loss", step.loss);
    add("norm", step.norm);
    add("scale", step.scale);
    if (skipped) line += "  skipped";
    if (skipped && step.scale_after) line += ", now " + training_log::shown(*step.scale_after);
    line.erase(line.find_last_not_of(' ') + 1);
    print(render::cut(line, session_.options.width) + "\n");
  }

  const Session& session_;
  training_log::Step last_;
  std::optional<double> last_scale_;
  std::int64_t steps_ = 0, told_steps_ = 0;
  bool last_skipped_ = false, ended_ = false;
};

void wait() { ::poll(nullptr, 0, kLookEvery); }

}  // namespace

int follow(const std::string& path, const Session& session) {
  signal(SIGINT, on_stop);
  signal(SIGTERM, on_stop);
  Teller teller(session);
  training_log::ReadOptions options;
  options.on_step = [&](const auto& step) { teller.step(step); };
  options.on_event = [&](const auto& event) { teller.event(event); };
  try {
    training_log::Lines lines(path);
    training_log::Reading reading(options);
    training_log::Line line;
    int idle = 0;
    while (stopped == 0 && !teller.has_ended()) {
      if (lines.next(line)) {
        reading.line(line);
        idle = 0;
        continue;
      }
      if (path == "-") break;
      if (lines.has_shrunk()) {
        note(path + ": the file became shorter; it is read from its beginning again");
        reading.begin_anew("the file became shorter while it was followed; it was read anew");
        continue;
      }
      // Two looks without news: a quiet moment to say where it stands.
      if (++idle == 2) teller.state();
      wait();
    }
    if (lines.last(line)) reading.line(line);
    const auto report = reading.finish(path);
    print("\n" + training_log::check_text(report, {session.options.width, session.options.colour}));
    return report.runs.empty() ? kUsage : kDone;
  } catch (const training_log::LogError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace gradlab::cli
