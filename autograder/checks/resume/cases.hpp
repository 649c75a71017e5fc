// What the resume checks draw: small models whose outputs stay far from their targets, so that a
// gradient is never near float16's end by chance: at scales up to 2048 only a bad example, whose
// target is far away, overflows; at the default scale of 65536 every example does.
#pragma once

#include <string>
#include <vector>

#include "judge/check.hpp"
#include "resume.hpp"

class Resume : public gradlab::Check {};

namespace gradlab::resume_checks {

constexpr int64_t kEveryCall = -1;
constexpr float kFar = 60000;  // the target of a bad example: float16 ends at 65504, and twice this
                               // times the scale is its gradient

// A run to draw. With a window of 1, calls take turns: a micro-batch, a step.
struct Plan {
  std::string part = {};  // tasks 1 to 4
  int64_t calls = 4;
  int64_t cut = 2;  // before this call, or kEveryCall
  int64_t window = 1;
  int examples = 2;
  bool has_bad = false;  // one of the examples overflows at any scale
  bool two_layers = false;
  int64_t init_scale = 64;
  int64_t growth_interval = 2;
  bool by_another_process = false;
  bool into_used = false;
};
Case draw_run(Random& random, const Plan& plan);

// Forty steps, one epoch of five after the other, with a bad example: each epoch has a skip, so
// that there are overflows on both sides of the cut in the middle.
Case draw_forty_steps(Random& random, const Plan& plan = {});

// Which example the run of this case draws as its micro-batch of that number, from 0.
int64_t example_of(const Case& in, int64_t micro_batch);
void make_bad(Case& in, int64_t example);

using Names = std::vector<std::string>;
// What a diary has of each call.
Names everything();

// Bit for bit as the reference's run, which is bit for bit the one without a cut: what this lab
// runs is given code on tensors of fixed size, there is no rounding to allow for.
void expect_reference(const Together& runs, const Names& lists = everything());
// The same against the run that nothing interrupts, of cases that say also_without_a_cut.
void expect_uninterrupted(const Together& runs);

}  // namespace gradlab::resume_checks
