// Answers that look at no gradient and at no state: none of them may earn a point.
#include "cases.hpp"

namespace {

using namespace gradlab;
using loss_scaling::Impl;
using loss_scaling::LossScale;
using Gradients = std::vector<torch::Tensor>;
using Groups = std::vector<Gradients>;

void zero(const Groups& groups) {
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      if (parameter.grad().defined()) parameter.grad().zero_();
    }
  }
}

void always_found(const Groups&, double, bool& found_inf) { found_inf = true; }
void never_found(const Groups&, double, bool& found_inf) { found_inf = false; }
void zeroes_and_found(const Groups& groups, double, bool& found_inf) {
  zero(groups);
  found_inf = true;
}
void zeroes_and_not_found(const Groups& groups, double, bool&) { zero(groups); }

void zero_scale(LossScale& state, bool) { state.scale = 0; }
void zero_tracker(LossScale& state, bool) { state.growth_tracker = 0; }
void first_state(LossScale& state, bool) { state = {}; }
void only_counts(LossScale& state, bool) { ++state.growth_tracker; }

int64_t counts_one(const Gradients&, double) { return 1; }
int64_t counts_tensors(const Gradients& gradients, double) {
  return static_cast<int64_t>(gradients.size());
}
int64_t zeroes_the_list(const Gradients& gradients, double) {
  for (const auto& gradient : gradients) {
    if (gradient.defined()) gradient.zero_();
  }
  return 0;
}

double always_65536(const Gradients&) { return 65536; }
double always_one(const Gradients&) { return 1; }
double always_zero(const Gradients&) { return 0; }

bool add(const char* name, void (*unscale)(const Groups&, double, bool&),
         void (*update)(LossScale&, bool), int64_t (*count)(const Gradients&, double),
         double (*scale)(const Gradients&)) {
  auto impl = std::make_shared<Impl>();
  impl->unscale_gradients = unscale;
  impl->update_scale = update;
  impl->count_underflow = count;
  impl->smallest_saving_scale = scale;
  implementations().idle[name] = impl;
  return true;
}

[[maybe_unused]] const bool kIdle[] = {
    add_idle_answers<Impl>(),
    add("always_the_same", always_found, zero_tracker, counts_one, always_one),
    add("never_anything", never_found, first_state, counts_tensors, always_zero),
    add("zeroes_all", zeroes_and_found, zero_scale, zeroes_the_list, always_65536),
    add("zeroes_gradients", zeroes_and_not_found, only_counts, zeroes_the_list, always_65536),
};

}  // namespace
