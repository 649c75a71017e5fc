// What becomes of assembled steps: runs, each with its series, story and findings.
#include <cmath>
#include <utility>

#include "training_log/reading.hpp"

namespace gradlab::training_log {

void Reading::begin_run() {
  run_ = std::make_unique<Run>();
  last_after_.reset();
  run_->config = next_config_;
  facts_ = std::make_unique<RunFacts>();
  facts_->config = std::exchange(next_config_, {});
  facts_->max_norm = options_.max_norm;
  run_->print.set(facts_->config);
  for (std::size_t i = 0; i < by_format_.size(); ++i) {
    if (by_format_[i] > 0 && logs_scale_after(static_cast<Format>(i)))
      facts_->scale_is_after = true;
  }
  timeline_ = std::make_unique<Timeline>(static_cast<Timeline::Watcher&>(*this));
  if (options_.analyse) detectors_ = all_detectors(*facts_);
}

void Reading::end_run() {
  if (!run_) return;
  timeline_->finish();
  run_->story.finish();
  for (const auto& detector : detectors_) detector->finish(run_->findings);
  if (options_.analyse) {
    for (const auto& earlier : report_.runs) {
      if (auto told = retried(earlier->print, run_->print)) {
        run_->findings.push_back(std::move(*told));
        break;
      }
    }
  }
  drop_symptoms(run_->findings);
  rank(run_->findings);
  detectors_.clear();
  if (report_.runs.size() < Report::kMostRuns) {
    report_.runs.push_back(std::move(run_));
  } else {
    ++report_.more_runs;
  }
  run_.reset();
}

// Megatron-LM, Swin and fairseq print the scale behind update(): the one used is that of the line
// before.
Step Reading::with_scale_used(const Step& read) {
  Step step = read;
  if (!facts_->scale_is_after || !step.scale) return step;
  facts_after_ = true;
  step.scale_after = step.scale;
  step.scale = std::exchange(last_after_, step.scale);
  return step;
}

void Reading::step(const Step& read, Break before) {
  if (before == Break::kNewRun) end_run();
  if (!run_) begin_run();
  const Step step = with_scale_used(read);
  bad_means_ += step.earlier_skip ? 1 : 0;
  if (options_.on_step) options_.on_step(step);
  timeline_->add(step, before == Break::kNewRun ? Break::kNone : before);
}

void Reading::event(const Event& event) {
  if (options_.on_event) options_.on_event(event);
  if (event.name == "run_start") next_config_ = event.config;
  if (!run_) return;
  run_->story.hear(event);
  for (const auto& detector : detectors_) detector->hear(event);
}

void Reading::see(const Moment& moment) {
  Run& run = *run_;
  if (run.lines++ == 0) run.first = moment.step();
  run.last = moment.step();
  run.skips += moment.skips;
  run.has_skips = run.has_skips || moment.skips_known;
  if (!options_.analyse) return;
  const Step& now = moment.now;
  if (now.loss) run.loss.add(moment.step(), *now.loss);
  if (now.norm) run.norm.add(moment.step(), *now.norm);
  if (now.scale) run.scale.add(moment.step(), *now.scale);
  run.skip.add(moment.step(), static_cast<double>(moment.skips));
  run.nonfinite_losses += now.loss && !std::isfinite(*now.loss) ? 1 : 0;
  run.print.see(moment);
  run.story.see(moment);
  for (const auto& detector : detectors_) detector->see(moment);
}

}  // namespace gradlab::training_log
