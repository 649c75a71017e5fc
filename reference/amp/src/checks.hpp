// What a scaler's numbers may be; each throws the Error that says so.
#pragma once

#include "gradlab/amp/grad_scaler_options.hpp"

namespace gradlab::amp::checks {

void growth_factor(double value);
void backoff_factor(double value);
void growth_interval(int64_t value);
void new_scale(double value);
void options(const GradScalerOptions& options);
// As IEEE rounds it: inf beyond the largest float32, where a plain cast is undefined.
float to_float(double value);
// All five at once, in the words of a loaded state.
void state(const GradScalerState& state);

}  // namespace gradlab::amp::checks
