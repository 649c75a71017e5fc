// What checks/<slug>.cpp is written with: a fixture that knows the subject and the reference, draws
// cases from the check's own seed, and walks over runs so that a failure knows its case.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judge/context.hpp"
#include "judge/idle_answers.hpp"
#include "judge/matchers.hpp"
#include "judge/random.hpp"
#include "judge/subject.hpp"

namespace gradlab {

// One case with what the student's and the reference's run of it showed.
struct Run {
  const Case& in;
  const Observation& got;
  const Observation& want;
};

// for (const Run& run : together(cases, got, want)) EXPECT_THAT(run.got, …);
class Together {
 public:
  Together(const std::vector<Case>& cases, const std::vector<Observation>& got,
           const std::vector<Observation>& want)
      : cases_(cases), got_(got), want_(want) {}

  class Iterator {
   public:
    Iterator(const Together& all, size_t at) : all_(all), at_(at) {}
    Run operator*() const {
      const Case& in = context().case_at(all_.cases_, at_);
      context().looking_at(&in, &all_.got_[at_], at_);
      return {in, all_.got_[at_], all_.want_[at_]};
    }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const Together& all_;
    size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, cases_.size()}; }

 private:
  const std::vector<Case>& cases_;
  const std::vector<Observation>& got_;
  const std::vector<Observation>& want_;
};

inline Together together(const std::vector<Case>& cases, const std::vector<Observation>& got,
                         const std::vector<Observation>& want) {
  return {cases, got, want};
}

// The fixture. A check is TEST_F(<Lab>, task<N>_<name>), <name> as in lab.toml.
class Check : public testing::Test {
 protected:
  // The implementation that is judged. Its observe() ends the check where a run gave no answer:
  // the verdict is then that fault's, and no comparison is made.
  Subject& subject() { return context().subject(); }
  // The reference, run here; draws nothing and is always right.
  Subject& reference() { return context().reference(); }
  Random& random() { return context().random(); }

  // `count` cases, each by draw(random(), index). Draw small ones first: the smallest that fails
  // is shown.
  template <typename Draw>
  std::vector<Case> draw(int count, Draw draw_one) {
    std::vector<Case> cases;
    for (int i = 0; i < count; ++i) cases.push_back(draw_one(random(), i));
    return cases;
  }
};

}  // namespace gradlab
