// Answers that look at nothing: none of them may earn a point.
#include "cases.hpp"

namespace {

using namespace gradlab;
using event_log::Baseline;
using event_log::Event;
using event_log::EventName;
using event_log::Finding;
using event_log::Impl;
using event_log::Loop;
using event_log::Record;
using event_log::Severity;

Record steps_and_says_nothing(const Loop& loop, int64_t, const torch::Tensor& loss) {
  training_step(loop, loss);
  return {};
}
Record numbers_the_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  training_step(loop, loss);
  Record record;
  record.step = step;
  return record;
}

std::string empty_object(const Record&) { return "{}\n"; }
std::string one_line_for_all(const Record&) {
  return R"({"event":"step","step":0,"loss":"nan","scale":null,"scale_after":null,"norm":"nan",)"
         R"("clipped":false,"skipped":false,"lr":0.5})"
         "\n";
}

double the_scale(const std::vector<torch::Tensor>&, double scale, bool) { return scale; }
double the_count(const std::vector<torch::Tensor>& gradients, double, bool) {
  return static_cast<double>(gradients.size());
}

std::optional<Event> always_a_skip(const Record&, Baseline&) {
  return Event{EventName::kSkippedStep, Severity::kInfo};
}
std::optional<Event> always_critical(const Record&, Baseline&) {
  return Event{EventName::kNonfiniteGradient, Severity::kCritical};
}

std::vector<Finding> one_empty_finding(const std::vector<Record>&) { return {Finding{}}; }
std::vector<Finding> nothing_found(const std::vector<Record>&) { return {}; }

bool add(const char* name, Record (*logged)(const Loop&, int64_t, const torch::Tensor&),
         std::string (*line)(const Record&),
         double (*norm)(const std::vector<torch::Tensor>&, double, bool),
         std::optional<Event> (*watch)(const Record&, Baseline&),
         std::vector<Finding> (*read)(const std::vector<Record>&)) {
  auto impl = std::make_shared<Impl>();
  impl->logged_step = logged;
  impl->json_line = line;
  impl->true_norm = norm;
  impl->watch = watch;
  impl->read_log = read;
  implementations().idle[name] = impl;
  return true;
}

[[maybe_unused]] const bool kIdle[] = {
    add_idle_answers<Impl>(),
    add("says_nothing", steps_and_says_nothing, empty_object, the_scale, always_a_skip,
        nothing_found),
    add("always_the_same", numbers_the_step, one_line_for_all, the_count, always_critical,
        one_empty_finding),
};

}  // namespace
