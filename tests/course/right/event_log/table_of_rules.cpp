#include "event_log.hpp"

#include <functional>
#include <iomanip>
#include <map>
#include <ranges>
#include <sstream>

namespace event_log {

namespace {

using gradlab::amp::clip_grads_with_norm_;
using gradlab::amp::get_total_norm;
using gradlab::amp::parameters_of;

using Tensors = std::vector<torch::Tensor>;

Tensors present_gradients(const Tensors& parameters) {
  Tensors out;
  std::ranges::copy(parameters | std::views::transform([](const auto& p) { return p.grad(); }) |
                        std::views::filter([](const auto& g) { return g.defined(); }),
                    std::back_inserter(out));
  return out;
}

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::string json(double value) {
  if (value != value) return quoted("nan");
  if (value - value != 0) return quoted(value > 0 ? "inf" : "-inf");
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::setprecision(17) << value;
  return out.str();
}

// Blocks of at most this many values are summed in float32 lanes by LibTorch, the blocks in double.
constexpr int64_t kBlock = 4096;

enum class Mark { kFine, kSkip, kLost };

Mark mark(const Record& record) {
  return record.skipped ? Mark::kSkip : std::isfinite(record.norm) ? Mark::kFine : Mark::kLost;
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const Tensors parameters = parameters_of(loop.optimizer);
  Record record{.step = step, .loss = loss.item<float>()};
  if (loop.scaler.is_enabled()) record.scale.emplace(loop.scaler.get_scale());
  record.lr = loop.optimizer.param_groups().front().options().get_lr();

  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  loop.scaler.unscale_(loop.optimizer);

  const Tensors gradients = present_gradients(parameters);
  const torch::Tensor norm = get_total_norm(gradients);
  record.norm = norm.item<double>();
  if (loop.max_norm) {
    Tensors before;
    for (const auto& gradient : gradients) before.push_back(gradient.clone());
    clip_grads_with_norm_(parameters, *loop.max_norm, norm);
    record.clipped = !std::ranges::equal(before, gradients, [](const auto& a, const auto& b) {
      return torch::equal(a, b);
    });
  }

  record.skipped = !loop.scaler.step(loop.optimizer);
  if (!record.skipped) loop.schedule.step();
  loop.scaler.update();
  if (record.scale) record.scale_after.emplace(loop.scaler.get_scale());
  return record;
}

std::string json_line(const Record& record) {
  std::map<std::string, std::string> object{
      {"event", quoted("step")},
      {"step", std::to_string(record.step)},
      {"loss", json(record.loss)},
      {"norm", json(record.norm)},
      {"lr", json(record.lr)},
      {"clipped", record.clipped ? "true" : "false"},
      {"skipped", record.skipped ? "true" : "false"},
      {"scale", "null"},
      {"scale_after", "null"},
  };
  if (record.scale) object["scale"] = json(*record.scale);
  if (record.scale_after) object["scale_after"] = json(*record.scale_after);
  std::string line;
  for (const auto& [key, value] : object) {
    line += (line.empty() ? '{' : ',') + quoted(key) + ':' + value;
  }
  return line + "}\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  double squares = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined() || gradient.numel() == 0) continue;
    for (const auto& block : gradient.detach().reshape({-1}).split(kBlock)) {
      const auto wide = block.to(torch::kFloat32);
      squares += wide.dot(wide).item<double>();
    }
  }
  return unscaled ? std::sqrt(squares) : std::sqrt(squares) / scale;
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  using Rule = std::pair<Event, std::function<bool()>>;
  const auto off = [&] { return log_norm(record.norm) - baseline.mean; };
  const auto warm = [&] { return baseline.updates >= kWarmUp; };
  const std::vector<Rule> rules{
      {{EventName::kSkippedStep, Severity::kInfo}, [&] { return record.skipped; }},
      {{EventName::kNonfiniteGradient, Severity::kCritical},
       [&] { return !std::isfinite(record.norm); }},
      {{EventName::kExploding, Severity::kWarning},
       [&] { return warm() && off() > baseline.margin(); }},
      {{EventName::kVanishing, Severity::kWarning},
       [&] { return warm() && -off() > baseline.margin(); }},
  };
  for (const auto& [event, applies] : rules) {
    if (applies()) return event;
  }
  baseline.accept(record.norm);
  return std::nullopt;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  // From the end to the start: a finding grows at its front, and is judged where it cannot grow on.
  const auto n = static_cast<int64_t>(log.size());
  int64_t lost = n;
  for (int64_t i = 0; i < n && lost == n; ++i) {
    if (mark(log[static_cast<size_t>(i)]) == Mark::kLost) lost = i;
  }
  struct Burst {
    int64_t first, last;
  };
  std::vector<Burst> bursts;
  for (int64_t i = lost - 1; i >= 0; --i) {
    if (mark(log[static_cast<size_t>(i)]) != Mark::kSkip) continue;
    if (!bursts.empty() && bursts.back().first == i + 1) {
      bursts.back().first = i;
    } else {
      bursts.push_back({i, i});
    }
  }
  std::vector<Finding> findings;
  const Burst* before = nullptr;
  for (const Burst& burst : bursts | std::views::reverse) {
    const Record& first = log[static_cast<size_t>(burst.first)];
    const Record& last = log[static_cast<size_t>(burst.last)];
    Cause cause = Cause::kScaleTooHigh;
    Remedy remedy = Remedy::kNothing;
    if (before != nullptr && burst.first - before->last <= 10) {
      remedy = Remedy::kLongerGrowthInterval;
    }
    const bool tried =
        burst.first > 0 && *log[static_cast<size_t>(burst.first) - 1].scale >= *first.scale;
    if (tried || !std::isfinite(first.loss)) {
      cause = Cause::kBadBatch;
      remedy = Remedy::kLookAtBatch;
    }
    if (burst.last == n - 1 && *last.scale_after < 1) {
      cause = Cause::kDiverged;
      remedy = Remedy::kLowerRateOrLimit;
    }
    findings.push_back({first.step, burst.last - burst.first + 1, cause, remedy});
    before = &burst;
  }
  if (lost < n) {
    findings.push_back({log[static_cast<size_t>(lost)].step, n - lost, Cause::kNotSkipped,
                        Remedy::kRestoreCheckpoint});
  }
  return findings;
}

}  // namespace event_log
