#include "judge/context.hpp"

#include <cmath>
#include <stdexcept>

namespace gradlab {

std::string trace_of(const Observation& seen) {
  const auto at = seen.all_words().find(Observation::kTrace);
  return at == seen.all_words().end() ? "" : at->second;
}

// Passes questions on to the judged implementation, remembers them, and ends the check where a run
// gave no whole answer: a comparison with half an answer would say nothing.
class CheckContext::Recording : public Subject {
 public:
  Recording(CheckContext& owner, Subject& judged) : owner_(owner), judged_(judged) {}

  std::vector<Observation> observe(const std::string& experiment,
                                   const std::vector<Case>& cases) override {
    auto got = judged_.observe(experiment, cases);
    owner_.asked.push_back({experiment, cases, got});
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i].fault != Fault::kNone) {
        owner_.fault = got[i].fault;
        owner_.fault_task = got[i].task;
        owner_.fault_detail = got[i].detail;
        owner_.faulty =
            Failure{cases[i], experiment, std::nullopt, got[i].detail, got[i].output, i};
        owner_.faulty->mismatch = no_return(got[i].detail);
        owner_.stopped = true;
        throw std::runtime_error("no answer");
      }
    }
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i].threw.empty()) continue;
      owner_.looking_at(&cases[i], &got[i], i);
      owner_.mismatch(no_return("it threw " + got[i].threw));
      owner_.fail("the call threw " + got[i].threw);
      owner_.stopped = true;
      throw std::runtime_error("thrown");
    }
    return got;
  }

 private:
  static Mismatch no_return(const std::string& got) {
    Mismatch mismatch;
    mismatch.value = "the call";
    mismatch.expected = "it returns";
    mismatch.got = got;
    mismatch.of = 0;
    return mismatch;
  }

  CheckContext& owner_;
  Subject& judged_;
};

CheckContext::CheckContext(Subject& judged, Subject& reference, std::string seed)
    : reference_(reference),
      recording_(std::make_unique<Recording>(*this, judged)),
      seed_(std::move(seed)) {}

CheckContext::~CheckContext() = default;

void CheckContext::begin(const std::string& check) {
  stopped = false;
  fault = Fault::kNone;
  fault_task.clear();
  fault_detail.clear();
  failures.clear();
  asked.clear();
  faulty.reset();
  closest.reset();
  looking_at(nullptr);
  pending_.reset();
  random_.emplace(seed_, check);
}

void CheckContext::came_near(double ratio) {
  // Nearest to 1 on a log scale: 0.2 and 5 are equally near, 0 and inf are not near at all.
  const auto distance = [](double r) { return std::abs(std::log(r)); };
  if (!(ratio > 0) || std::isinf(ratio)) return;
  if (!closest || distance(ratio) < distance(*closest)) closest = ratio;
}

void CheckContext::fail(const std::string& text) {
  Failure failure;
  failure.text = text;
  failure.mismatch = std::move(pending_);
  pending_.reset();
  if (current_ != nullptr) {
    failure.in = *current_;
    failure.index = current_index_;
    if (current_got_ != nullptr) {
      failure.output = current_got_->output;
      failure.trace = trace_of(*current_got_);
    }
    if (!asked.empty()) failure.experiment = asked.back().experiment;
  }
  failures.push_back(std::move(failure));
}

const Failure* CheckContext::smallest() const {
  const Failure* best = nullptr;
  const auto size = [](const Failure& f) { return f.in ? f.in->element_count() : INT64_MAX; };
  for (const auto& failure : failures) {
    if (best == nullptr || size(failure) < size(*best)) best = &failure;
  }
  return best;
}

namespace {
CheckContext* current_context = nullptr;
}

CheckContext& context() { return *current_context; }
void set_context(CheckContext* context) { current_context = context; }

}  // namespace gradlab
