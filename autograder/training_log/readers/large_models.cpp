// The steps of DeepSpeed, Megatron-LM and fairseq.
#include <cmath>

#include "training_log/number.hpp"
#include "training_log/readers/pairs.hpp"
#include "training_log/readers/readers.hpp"

namespace gradlab::training_log {

// "[Rank 0] step=20, skipped=3, lr=[0.0002, 0.0002], mom=[(0.9, 0.95)]"
Found read_deepspeed(std::string_view line, Sink& sink) {
  const auto at = line.find("step=");
  if (at == std::string_view::npos || line.find("skipped=", at) == std::string_view::npos ||
      line.find("lr=[", at) == std::string_view::npos) {
    return {};
  }
  Fields fields;
  scan_pairs(line.substr(at), fields);
  Step step;
  if (fill_step(fields, step) == 0 || !step.step) return {};
  sink.step(std::move(step));
  return {true, Format::kDeepSpeed};
}

// " iteration        7/     500 | consumed samples: 112 | loss scale: 8192.0 | ... |"
Found read_megatron(std::string_view line, Sink& sink) {
  const auto at = line.find("iteration ");
  const auto bar = line.find('|');
  if (at == std::string_view::npos || bar == std::string_view::npos || bar < at) return {};
  std::string_view rest;
  const auto iteration = leading_count(line.substr(at + 10), rest);
  if (!iteration || !trimmed(rest).starts_with('/')) return {};
  Fields fields;
  for (std::string_view parts = line.substr(bar + 1); !parts.empty();) {
    const auto end = parts.find('|');
    const std::string_view part = parts.substr(0, end);
    if (const auto colon = part.rfind(": "); colon != std::string_view::npos) {
      fields.add(trimmed(part.substr(0, colon)), trimmed(part.substr(colon + 1)));
    }
    parts = end == std::string_view::npos ? "" : parts.substr(end + 1);
  }
  Step step;
  if (fill_step(fields, step) == 0) return {};
  step.step = iteration;
  sink.step(std::move(step));
  return {true, Format::kMegatron};
}

namespace {

// fairseq's "clip" is the share of the steps that were clipped, in percent.
void finish_fairseq(const Fields& fields, Step& step) {
  const auto clip = fields.number("clip");
  if (clip && *clip == 0) step.clipped = false;
  if (clip && *clip == 100) step.clipped = true;
}

}  // namespace

// "... | train_inner | {"epoch": 1, "loss": "5.3", "num_updates": "100", ...}", and the plain
// "epoch 001:  10 / 100 loss=8.1, num_updates=10, gnorm=1.2, loss_scale=128"
Found read_fairseq(std::string_view line, Sink& sink) {
  Fields fields;
  if (const auto at = line.find("train_inner | {"); at != std::string_view::npos) {
    if (!parse_object(line.substr(line.find('{', at)), fields)) return {};
  } else if (const auto updates = line.find("num_updates=");
             updates != std::string_view::npos && line.find("gnorm=") != std::string_view::npos) {
    const auto slash = line.find(" / ");
    scan_pairs(line.substr(slash == std::string_view::npos ? 0 : slash + 3), fields);
    std::string_view rest;
    if (const auto epoch = line.find("epoch "); epoch != std::string_view::npos) {
      if (const auto number = leading_count(line.substr(epoch + 6), rest)) {
        fields.add("epoch", std::to_string(*number));
      }
    }
  } else {
    const bool other = line.find("| train | {") != std::string_view::npos ||
                       line.find("| valid | {") != std::string_view::npos;
    return {other, Format::kFairseq};  // an epoch's summary
  }
  Step step;
  if (fill_step(fields, step) == 0) return {};
  finish_fairseq(fields, step);
  sink.step(std::move(step));
  return {true, Format::kFairseq};
}

}  // namespace gradlab::training_log
