// The clipping lab's experiments: each lets one implementation loose on one case and reports what
// can be seen afterwards. They run beside the implementation, so they know no expected value.
#include "clipping.hpp"

#include <limits>

#include "runner/lab.hpp"

namespace {

using clipping::Impl;
using gradlab::Case;
using gradlab::gradients_of;
using gradlab::Observation;

// Other names for the gradients' memory, taken before the call: they see a change only if it was
// made in place. Detached, so that giving the same gradient other memory is seen too.
std::vector<torch::Tensor> aliases_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> aliases;
  for (const auto& gradient : gradients_of(parameters)) {
    aliases.push_back(gradient.defined() ? gradient.detach() : gradient);
  }
  return aliases;
}

Observation total_norm(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  return Observation().add("norm", impl.total_norm(parameters));
}

Observation total_norm_and_inputs(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  const double norm = impl.total_norm(parameters);
  return Observation()
      .add("norm", norm)
      .add("gradients", gradients_of(parameters))
      .add("parameters", parameters);
}

Observation clip_once(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  const auto aliases = aliases_of(parameters);
  const double norm = impl.clip_gradients(parameters, in.number("max_norm"));
  return Observation()
      .add("norm", norm)
      .add("gradients", gradients_of(parameters))
      .add("aliases", aliases)
      .add("parameters", parameters);
}

Observation clip_twice(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  impl.clip_gradients(parameters, in.number("max_norm"));
  impl.clip_gradients(parameters, in.number("max_norm"));
  return Observation().add("gradients", gradients_of(parameters));
}

// The first `first` parameters are one model, the others another.
Observation clip_two_lists(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  const auto middle = parameters.begin() + in.integer("first");
  impl.clip_gradients({parameters.begin(), middle}, in.number("max_norm"));
  impl.clip_gradients({middle, parameters.end()}, in.number("max_norm_of_second"));
  return Observation().add("gradients", gradients_of(parameters));
}

Observation clip_checked(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  const auto aliases = aliases_of(parameters);
  double norm = std::numeric_limits<double>::quiet_NaN();  // stays so when the call throws
  Observation seen;
  seen.call([&] { norm = impl.clip_gradients_checked(parameters, in.number("max_norm")); });
  return seen.add("norm", norm)
      .add("gradients", gradients_of(parameters))
      .add("aliases", aliases)
      .add("parameters", parameters);
}

Observation clip_after_warmup(const Impl& impl, const Case& in) {
  const auto parameters = in.parameters();
  const auto aliases = aliases_of(parameters);
  const bool clipped = impl.clip_after_warmup(parameters, in.number("max_norm"), in.integer("step"),
                                              in.integer("warmup_steps"));
  return Observation()
      .add("clipped", clipped)
      .add("gradients", gradients_of(parameters))
      .add("aliases", aliases);
}

GRADLAB_EXPERIMENTS(clipping, total_norm, total_norm_and_inputs, clip_once, clip_twice,
                    clip_two_lists, clip_checked, clip_after_warmup)

}  // namespace
