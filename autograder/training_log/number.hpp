// Numbers in every spelling that C, C++ and Python print.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gradlab::training_log {

// "1e-05", "+3", "-inf", "Infinity", "nan", "-nan(ind)", "1.#QNAN", "tensor(1.5, device='cpu')".
// Nothing for other text, "None" and "null" included. Beyond double's range: inf, or 0.
std::optional<double> number_of(std::string_view text);

// The number that `text` begins with, and what is left of it in `rest`.
std::optional<double> leading_number(std::string_view text, std::string_view& rest);

std::string_view trimmed(std::string_view text);
std::string lower(std::string_view text);

// As a person writes it: 65536, 0.0312, 1.5e-08, inf. Six digits at most, blanks for none.
std::string shown(double value);
std::string shown(std::optional<double> value);
// 1,234,567
std::string counted(long long value);

}  // namespace gradlab::training_log
