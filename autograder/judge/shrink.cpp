#include "judge/shrink.hpp"

#include <algorithm>
#include <cmath>

#include "judge/run_check.hpp"
#include "judge/smaller_cases.hpp"

namespace gradlab {
namespace {

constexpr int64_t kPlainElements = 8;  // of values and gradients together: no need to shrink
constexpr int kMostOfOneCheck = 60;
constexpr int kMostInAll = 150;  // a few milliseconds each

std::function<bool(const Case&)>& allowed() {
  static std::function<bool(const Case&)> lab_allows = [](const Case&) { return true; };
  return lab_allows;
}

// Answers as before, but for one case.
class Instead : public Subject {
 public:
  Instead(std::vector<Observation> before, size_t index) : all_(std::move(before)), at_(index) {}
  void answer(Observation seen) { all_[at_] = std::move(seen); }
  std::vector<Observation> observe(const std::string&, const std::vector<Case>&) override {
    return all_;
  }

 private:
  std::vector<Observation> all_;
  size_t at_;
};

std::string type_of(const std::string& threw) { return threw.substr(0, threw.find(": ")); }

}  // namespace

bool shrink_only_to(std::function<bool(const Case&)> lab_allows) {
  allowed() = std::move(lab_allows);
  return true;
}

// The trials of one failed check.
class Shrinking::Trials {
 public:
  Trials(Shrinking& owner, const Asked& asked, const Failure& start, std::string check, int task)
      : owner_(owner),
        experiment_(asked.experiment),
        start_(start),
        check_(std::move(check)),
        task_(task),
        got_(asked.got, start.index),
        want_(owner.reference_.observe(asked.experiment, asked.cases), start.index) {}

  // The failure on this case, or nothing.
  std::optional<Failure> operator()(const Case& in) {
    ++owner_.tried_;
    if (!allowed()(in)) return std::nullopt;
    const auto want = owner_.reference_.observe(experiment_, {in}).front();
    if (want.fault != Fault::kNone || !want.threw.empty()) return std::nullopt;
    want_.answer(want);
    got_.answer(want);
    if (failure_on(in)) return std::nullopt;  // the check asks for something else there
    auto got = owner_.judged_.observe(experiment_, {in}).front();
    if (got.fault != Fault::kNone) {
      owner_.tried_ = kMostInAll;
      return std::nullopt;
    }
    if (!got.threw.empty()) return thrown(in, got);
    got_.answer(std::move(got));
    return failure_on(in);
  }

 private:
  std::optional<Failure> failure_on(const Case& in) {
    CheckContext trial(got_, want_, owner_.seed_);
    trial.substitute = {start_.index, in};
    run_check(trial, check_, task_);
    for (const auto& failure : trial.failures) {
      const bool here = failure.in && failure.index == start_.index;
      if (here && failure.mismatch && failure.mismatch->value == start_.mismatch->value) {
        return failure;
      }
    }
    return std::nullopt;
  }

  // Both calls threw an exception of the same type.
  std::optional<Failure> thrown(const Case& in, const Observation& got) const {
    Failure failure = start_;
    failure.in = in;
    failure.output = got.output;
    failure.trace = trace_of(got);
    failure.mismatch->got = "it threw " + got.threw;
    if (type_of(failure.mismatch->got) != type_of(start_.mismatch->got)) return std::nullopt;
    return failure;
  }

  Shrinking& owner_;
  std::string experiment_;
  const Failure& start_;
  std::string check_;
  int task_;
  Instead got_;
  Instead want_;
};

Failure Shrinking::smallest(const Failure& failed, const std::vector<Asked>& asked,
                            const std::string& check, int task) {
  Failure best = failed;
  const bool worth_it = best.in && best.mismatch && best.in->element_count() > kPlainElements;
  if (!worth_it || asked.size() != 1 || tried_ >= kMostInAll) return best;
  Trials fails_on(*this, asked.front(), failed, check, task);
  const int most = std::min(kMostInAll, tried_ + kMostOfOneCheck);
  for (bool smaller = true; smaller && best.in->element_count() > kPlainElements / 4;) {
    smaller = false;
    for (const auto& candidate : smaller_cases(*best.in)) {
      if (tried_ >= most) return best;
      if (auto failure = fails_on(candidate)) {
        best = std::move(*failure);
        smaller = true;
        break;
      }
    }
  }
  return best;
}

}  // namespace gradlab
