// The loss scaling lab's experiments: each lets one implementation loose on one case and reports
// what can be seen afterwards. They run beside the implementation, so they know no expected value.
#include "loss_scaling.hpp"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include "runner/lab.hpp"

namespace {

using gradlab::Case;
using gradlab::gradients_of;
using gradlab::Observation;
using loss_scaling::Impl;
using loss_scaling::LossScale;
using Parameters = std::vector<torch::Tensor>;

// Other names for the gradients' memory, taken before the call: they see a change only if it was
// made in place.
Parameters aliases_of(const Parameters& parameters) {
  Parameters aliases;
  for (const auto& gradient : gradients_of(parameters)) {
    aliases.push_back(gradient.defined() ? gradient.detach() : gradient);
  }
  return aliases;
}

// The parameters as the groups that the case names for each of them, or as one group. A number that
// no parameter has is an empty group.
std::vector<Parameters> in_groups(const Parameters& parameters, const Case& in) {
  if (!in.all_tensors().contains("group_of_each")) return {parameters};
  std::vector<Parameters> groups;
  const auto& group_of = in.tensors("group_of_each");
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto at = static_cast<size_t>(group_of.at(i).item<int64_t>());
    if (groups.size() <= at) groups.resize(at + 1);
    groups[at].push_back(parameters[i]);
  }
  return groups;
}

bool found_before(const Case& in) { return in.all_integers().contains("found_inf_before"); }

Observation unscale(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  const auto aliases = aliases_of(parameters);
  bool found_inf = found_before(in);
  impl.unscale_gradients(in_groups(parameters, in), in.number("scale"), found_inf);
  return Observation()
      .add("found_inf", found_inf)
      .add("gradients", gradients_of(parameters))
      .add("old_memory_of_gradients", aliases)
      .add("parameters", parameters);
}

// Each group by itself, as of an optimizer of its own; one flag for all of them.
Observation unscale_one_by_one(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  bool found_inf = found_before(in);
  for (const auto& group : in_groups(parameters, in)) {
    impl.unscale_gradients({group}, in.number("scale"), found_inf);
  }
  return Observation().add("found_inf", found_inf).add("gradients", gradients_of(parameters));
}

LossScale state_of(const Case& in) {
  return {.scale = static_cast<float>(in.number("scale")),
          .growth_tracker = in.integer("growth_tracker"),
          .growth_factor = in.number("growth_factor"),
          .backoff_factor = in.number("backoff_factor"),
          .growth_interval = in.integer("growth_interval")};
}

torch::Tensor tensor_of(float value) { return torch::full({}, value, torch::kFloat32); }
torch::Tensor tensor_of(int64_t value) { return torch::full({}, value, torch::kInt64); }

// A flag for each update, under a name that a failed case is shown with.
constexpr const char* kUpdates = "found_inf (1 true, 0 false) arguments";

// What became of one state: the scale and the tracker after each update.
class Course {
 public:
  void note(const LossScale& state) {
    scales_.push_back(tensor_of(state.scale));
    trackers_.push_back(tensor_of(state.growth_tracker));
  }
  void report(Observation& seen) const {
    seen.add("scale_after_update", scales_).add("growth_tracker_after_update", trackers_);
  }

 private:
  Parameters scales_;
  Parameters trackers_;
};

Observation update(const Impl& impl, const Case& in) {
  LossScale state = state_of(in);
  Course course;
  for (const auto& found_inf : in.tensors(kUpdates)) {
    impl.update_scale(state, found_inf.item<double>() != 0);
    course.note(state);
  }
  Observation seen;
  course.report(seen);
  return seen.add("growth_factor", state.growth_factor)
      .add("backoff_factor", state.backoff_factor)
      .add("growth_interval", static_cast<double>(state.growth_interval));
}

// A second scale, which never overflows, takes its turn before the one that is reported.
Observation update_beside_another(const Impl& impl, const Case& in) {
  LossScale state = state_of(in);
  LossScale other = state;
  Course course;
  for (const auto& found_inf : in.tensors(kUpdates)) {
    impl.update_scale(other, false);
    impl.update_scale(state, found_inf.item<double>() != 0);
    course.note(state);
  }
  Observation seen;
  course.report(seen);
  return seen;
}

Observation count(const Impl& impl, const Case& in) {
  const auto gradients = in.copies("gradients");
  const int64_t lost = impl.count_underflow(gradients, in.number("scale"));
  return Observation().add("count", static_cast<double>(lost)).add("gradients", gradients);
}

Observation saving_scale(const Impl& impl, const Case& in) {
  const auto gradients = in.copies("gradients");
  const double scale = impl.smallest_saving_scale(gradients);
  return Observation().add("scale", scale).add("gradients", gradients);
}

GRADLAB_EXPERIMENTS(loss_scaling, unscale, unscale_one_by_one, update, update_beside_another, count,
                    saving_scale)

// LibTorch's own operators for tasks 1 and 2 give an error here, since a hand-in can reach them by
// their names as text, where the compiler does not look. The variants that are not in place call
// these two.

[[noreturn]] void refuse(const char* name) {
  TORCH_CHECK(false, "this lab asks you to write it: aten::", name,
              " may not be called, write it with elementary tensor operations");
}

void refuse_unscale(at::TensorList, at::Tensor&, const at::Tensor&) {
  refuse("_amp_foreach_non_finite_check_and_unscale_");
}

at::Tensor& refuse_update(at::Tensor&, at::Tensor&, const at::Tensor&, double, double, int64_t) {
  refuse("_amp_update_scale_");
}

// LibTorch warns of a kernel that takes another's place, and this is meant.
class Silence : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

const torch::Library& refusals() {
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard quiet(&silence);
  static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__,
                                __LINE__);
  library.impl("_amp_foreach_non_finite_check_and_unscale_", refuse_unscale);
  library.impl("_amp_update_scale_", refuse_update);
  return library;
}

[[maybe_unused]] const torch::Library& kRefusals = refusals();

}  // namespace
