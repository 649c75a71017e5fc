// Every wording of the library, as named factories, so that they can be read and tested in one
// place. Where Python raises, the message opens with Python's own words, so that a search finds
// both.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "gradlab/amp/error.hpp"

namespace gradlab::amp::errors {

// "float16 [2, 3] on cpu"
std::string in_words(const at::Tensor& tensor);

// ---- order of calls; `call` is "unscale_", "step" or "update"
Error unscale_twice();
Error unscale_after_step();
Error step_twice();
Error scale_not_initialised(const char* call);
Error no_inf_checks_for_optimizer();
Error no_inf_checks_before_update();
Error closure_not_supported();

// ---- gradients; `place` is "the gradient of parameter 3" or the like
Error undefined_tensor(const std::string& place);
Error integer_gradient(const std::string& place, const at::Tensor& gradient);
Error complex_gradient(const std::string& place, const at::Tensor& gradient);
Error float16_gradient(const std::string& place, const at::Tensor& gradient);
Error unsupported_layout(const std::string& place, const at::Tensor& gradient);
Error overlapping_memory(const std::string& place, const at::Tensor& gradient);
Error infinity_norm_of_empty(const std::string& place, double norm_type);
Error repeated_tensor(const std::string& place, size_t first);
Error nonfinite_norm(double norm_type);
Error no_gradients(const char* call);

// ---- arguments
Error bad_max_norm(double max_norm);
Error bad_total_norm(const at::Tensor& total_norm);
Error bad_growth_factor(double value);
Error bad_backoff_factor(double value);
Error bad_init_scale(double value);
Error bad_growth_interval(int64_t value);
Error bad_option(const char* option, double was, const char* may_be);
Error bad_new_scale(double value);
Error bad_new_scale(const at::Tensor& value);
Error new_scale_shape(const at::Tensor& value);
Error bad_scale_argument(const std::string& was);
Error wrong_device(const char* argument, const std::string& was, const std::string& may_be);
Error device_unavailable(const std::string& device);

// ---- state
Error empty_state();
Error missing_key(const std::string& key);
Error bad_state_value(const std::string& key, double was, const char* may_be);
Error bad_state_type(const std::string& key, const std::string& was);
Error malformed_state(const std::string& why);

// ---- autocast
Error autocast_device(const std::string& device);
Error autocast_dtype(const std::string& device, const std::string& dtype);

// ---- opt-in stops
Error scale_at_minimum(double scale);
Error too_many_skips(int64_t skips, double scale);

}  // namespace gradlab::amp::errors
