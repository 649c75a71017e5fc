// Names and numbers out of a line of text, for the readers of text formats.
#pragma once

#include <string_view>

#include "training_log/fields.hpp"

namespace gradlab::training_log {

// "lr: 1.0e-3, eta: 0:10:00, loss: 0.5" and "loss=8.1, ppl=2" and "loss 6.1 (6.2)  mem 12MB": in
// that order of trust. A number may be followed by its mean in brackets; one whose mean is not
// finite is told in `mean_not_finite`.
void scan_pairs(std::string_view text, Fields& fields, bool* mean_not_finite = nullptr);

// The digits at the beginning of `text`, and what is left. Nothing where there are none.
std::optional<std::int64_t> leading_count(std::string_view text, std::string_view& rest);

}  // namespace gradlab::training_log
