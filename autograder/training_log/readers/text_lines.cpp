// nanoGPT, Swin and timm, MMEngine and mmcv, and any trainer that prints names with values.
#include "training_log/number.hpp"
#include "training_log/readers/pairs.hpp"
#include "training_log/readers/readers.hpp"

namespace gradlab::training_log {
namespace {

// "3/30][50/400]" or "3][50/400]" or "50/160000]": an epoch and a place in it, or only a step.
struct Place {
  std::optional<std::int64_t> epoch, at, of;
  std::string_view rest;
};

Place place_of(std::string_view text) {
  Place place;
  std::string_view rest;
  const auto first = leading_count(text, rest);
  std::optional<std::int64_t> first_of;
  if (rest.starts_with('/')) first_of = leading_count(rest.substr(1), rest);
  if (!first || !rest.starts_with(']')) return place;
  rest.remove_prefix(1);
  if (!rest.starts_with('[')) {
    place.at = first;
    place.of = first_of;
    place.rest = rest;
    return place;
  }
  place.epoch = first;
  place.at = leading_count(rest.substr(1), rest);
  if (place.at && rest.starts_with('/')) place.of = leading_count(rest.substr(1), rest);
  const auto close = rest.find(']');
  place.rest = close == std::string_view::npos ? rest : rest.substr(close + 1);
  return place;
}

// Where each epoch counts from its own beginning. REQUIRES: at.
std::int64_t step_of(const Place& place, std::int64_t first_epoch) {
  if (!place.epoch || !place.of) return *place.at;
  return (*place.epoch - first_epoch) * *place.of + *place.at;
}

bool put(const Place& place, std::int64_t first_epoch, Sink& sink) {
  Fields fields;
  Step step;
  scan_pairs(place.rest, fields, &step.earlier_skip);
  step.step.reset();
  if (fill_step(fields, step) == 0) return false;
  step.time.reset();  // the seconds a step took, in these formats
  step.step = step_of(place, first_epoch);
  if (place.epoch) {
    step.epoch = static_cast<double>(*place.epoch);
    step.batch = static_cast<double>(*place.at);
  }
  sink.step(std::move(step));
  return true;
}

}  // namespace

// "iter 40: loss nan, time 101.25ms, mfu 12.50%" and "step 250: train loss 1.9, val loss 2.1"
Found read_nanogpt(std::string_view line, Sink& sink) {
  line = trimmed(line);
  std::string_view rest;
  if (line.starts_with("step ") && line.find(": train loss ") < 30) return {true, Format::kNanoGpt};
  if (!line.starts_with("iter ")) return {};
  const auto iteration = leading_count(line.substr(5), rest);
  if (!iteration || !rest.starts_with(": loss ")) return {};
  Fields fields;
  scan_pairs(rest.substr(2), fields);
  Step step;
  if (fill_step(fields, step) == 0) return {};
  step.time.reset();
  step.step = iteration;
  sink.step(std::move(step));
  return {true, Format::kNanoGpt};
}

// "Train: [1/30][50/400]\teta 0:02:55 lr 0.000021\tloss 6.1250 (6.2031)\tgrad_norm 1.5 (inf)", and
// timm's "Train: 0 [  50/1251 (  4%)]  Loss: 6.9 (6.95)"
Found read_swin(std::string_view line, Sink& sink) {
  const auto at = line.find("Train: ");
  if (at == std::string_view::npos) return {};
  std::string_view text = line.substr(at + 7);
  if (text.starts_with('[')) {
    const Place place = place_of(text.substr(1));
    return {place.at && put(place, 0, sink), Format::kSwin};
  }
  Place place;
  std::string_view rest;
  place.epoch = leading_count(text, rest);
  rest = trimmed(rest);
  if (!place.epoch || !rest.starts_with('[')) return {};
  place.at = leading_count(rest.substr(1), rest);
  if (!place.at || !rest.starts_with('/')) return {};
  place.of = leading_count(rest.substr(1), rest);
  const auto close = rest.find(']');
  if (close == std::string_view::npos) return {};
  place.rest = rest.substr(close + 1);
  return {put(place, 0, sink), Format::kSwin};
}

// "Epoch(train)  [1][50/100]  lr: 1.0e-03  loss: 0.5", "Epoch [1][50/100]\tlr: ...", "Iter [50/9]"
Found read_mmengine(std::string_view line, Sink& sink) {
  for (const std::string_view start : {"Epoch(train)", "Epoch [", "Iter(train)", "Iter ["}) {
    const auto at = line.find(start);
    if (at == std::string_view::npos) continue;
    const auto open = line.find('[', at);
    if (open == std::string_view::npos) return {};
    const Place place = place_of(line.substr(open + 1));
    return {place.at && put(place, 1, sink), Format::kMmEngine};
  }
  return {};
}

// "step=12 loss=0.5 grad_norm=1.2", "step 12 | loss: 0.5 | norm 1.2 | lr 1e-3"
Found read_key_value(std::string_view line, Sink& sink) {
  Fields fields;
  scan_pairs(line, fields);
  Step step;
  const int known = fill_step(fields, step);
  const bool enough = step.step ? known >= 1 : known >= 2;
  if (!enough) return {};
  // "time=0.4" is how long it took, "time=1700000000.1" when it was.
  if (step.time && *step.time < 1e8) step.time.reset();
  sink.step(std::move(step));
  return {true, Format::kKeyValue};
}

}  // namespace gradlab::training_log
