#include "judge/rehearsal.hpp"

#include "judge/context.hpp"
#include "judge/run_check.hpp"
#include "runner/batch.hpp"

namespace gradlab {
namespace {

constexpr size_t kMostBytes = 64u << 20;  // of all questions; what is beyond is asked again

std::string question(const std::string& experiment, const std::vector<Case>& cases) {
  const auto frame = Batch{0, experiment, cases}.to_frame();
  return frame.head.dump() + frame.body;
}

// Passes every question on to be learned.
class Learner : public Subject {
 public:
  explicit Learner(Remembering& reference) : reference_(reference) {}
  std::vector<Observation> observe(const std::string& experiment,
                                   const std::vector<Case>& cases) override {
    return reference_.learn(experiment, cases);
  }

 private:
  Remembering& reference_;
};

}  // namespace

std::vector<Observation> Remembering::observe(const std::string& experiment,
                                              const std::vector<Case>& cases) {
  const auto known = answers_.find(question(experiment, cases));
  return known == answers_.end() ? reference_.observe(experiment, cases) : known->second;
}

std::vector<Observation> Remembering::learn(const std::string& experiment,
                                            const std::vector<Case>& cases) {
  auto asked = question(experiment, cases);
  if (const auto known = answers_.find(asked); known != answers_.end()) return known->second;
  auto seen = reference_.observe(experiment, cases);
  bytes_ += asked.size();
  if (bytes_ <= kMostBytes) answers_.emplace(std::move(asked), seen);
  return seen;
}

void Remembering::forget() {
  answers_.clear();
  bytes_ = 0;
}

void rehearse(Remembering& reference, const GradingOrder& order,
              const std::function<bool()>& go_on) {
  Learner learner(reference);
  CheckContext context(learner, learner, order.seeds.front());
  for (const auto& check : order.checks) {
    if (!go_on()) return;
    run_check(context, check.name, check.task);
  }
}

}  // namespace gradlab
