// What the step_order checks draw: small models with batches whose gradients keep a wide margin to
// float16's end at every scale of their run, so that every right answer skips the same batches; and
// batches that overflow at any scale.
#pragma once

#include <string>
#include <vector>

#include "judge/check.hpp"
#include "step_order.hpp"

class StepOrder : public gradlab::Check {
 protected:
  // Asks the judged implementation. A call that threw ends its run, and the check: it is told in
  // the place of what half a run holds.
  std::vector<gradlab::Observation> judged(const std::string& experiment,
                                           const std::vector<gradlab::Case>& cases);
};

namespace gradlab::step_order_checks {

using List = std::vector<torch::Tensor>;

// Above every norm, also a scaled one.
constexpr double kNoLimit = 1e6;

// The names under which a case holds a model and its batches.
struct Names {
  std::string weights = "weights";
  std::string inputs = "inputs";
  std::string targets = "targets";
};
Names first_names();
Names second_names();

// A run to draw. Inputs are positive, and the targets of a batch have one sign and lie far from
// what the model says at first: rows do not cancel each other, and a gradient is no small
// difference of rounded numbers. The largest is about 40.
struct Plan {
  int steps = 6;
  int64_t rows = 0;  // of each batch; 0 draws them
  bool two_layers = false;
  double lr = 0.125;
  double momentum = 0.5;
  double max_norm = kNoLimit;
  int64_t init_scale = 64;  // at scales of 8 to 512
  int64_t growth_interval = 2000;
};
Case draw_run(Random& random, const Plan& plan);
void add_model(Random& random, Case& in, const Names& names, int steps, bool two_layers,
               int64_t rows_of_each = 0);

// A model of one row of weights, and one batch of one row: what can be worked by hand.
Case one_row(const std::vector<double>& weights, const std::vector<double>& x, double y, double lr,
             double max_norm, int64_t scale);
// One more batch for it.
void add_batch(Case& in, const std::vector<double>& x, double y);

// What a scaler begins with unless told otherwise, and steps that must be taken at it: one weight
// of less than 1/5, inputs of 1, targets 0, learning rate 1/4. A gradient is twice the weight, at
// most 0.375 and 24576 scaled, so that float16 holds it; a step halves the weight. A loss in
// float16 would be multiplied by 65536 in float16, which is inf there.
constexpr int64_t kFirstScale = 65536;
double small_weight(Random& random);
Case at_first_scale(Random& random, int steps);

// Four weights of 1, `steps` batches of two rows of four times `x`, targets 0: the golden run where
// x is 10. The gradient of each weight is 8 x^2 at first, the norm 16 x^2, the loss 16 x^2.
Case golden(int steps, double x, double lr, double max_norm);

// Ways to overflow. Only the first has a finite loss.
enum class Overflow { kLargeTarget, kInfInput, kNanTarget, kLargeInput };
constexpr int kOverflows = 4;
Overflow overflow_of(int index);  // all in turn
void overflow(Case& in, size_t batch, Overflow how, const Names& names = {});
bool overflows(const Case& in, size_t batch, const Names& names = {});
// Which batches are skipped, or which windows of so many batches.
std::vector<bool> skips_of(const Case& in, const Names& names = {}, size_t window = 1);
size_t batch_count(const Case& in, const Names& names = {});

// A row of weights, as the observations hold it.
torch::Tensor row(const std::vector<double>& values);
torch::Tensor start_of(const Case& in, const Names& names = {});

// How near weights, and what is like them, come to the reference's: within a twentieth of the way
// that they go in the run. A right answer may round another way than the reference: a weight that
// differs in its last bit can become the next float16, 2^-11 away, and so can a gradient. What
// follows from that in 40 steps stays below; a wrong order changes the length of a step by a
// factor. (That of bfloat16, 2^-8, is seen by a check of its own.)
TensorRule near_reference(const Run& run, const std::string& what, const Names& names = {});

// The judged run's own list, empty where an answer has none: a matcher then says that it is forged.
const List& list_of(const Observation& seen, const std::string& what);

// What skipped is as before, bit for bit, in the judged run itself.
TensorRule unchanged_where(const std::vector<bool>& skipped, const List& got,
                           const torch::Tensor& start);

// A list of numbers, one a step, exactly.
TensorRule exactly(const std::vector<double>& values);
TensorRule as_reference(const Run& run, const std::string& what);

}  // namespace gradlab::step_order_checks
