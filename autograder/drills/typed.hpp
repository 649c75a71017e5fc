// What a person types for a number: 0.2, .2, 1/5, 2^16, 2**16, 1e-3, 3 x 10^4, -inf.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::drills {

std::optional<double> typed_number(std::string_view text);
// Numbers apart by blanks; brackets and commas between them may stand there too.
std::optional<std::vector<double>> typed_numbers(std::string_view text);
// "3 1 4 2", "3, 1, 4, 2", "3142" as indices from 0. REQUIRES: count <= 9. Nothing where it is no
// order of 1 … count.
std::optional<std::vector<int>> typed_order(std::string_view text, int count);

// Lower case, without blanks at the ends.
std::string plain_word(std::string_view text);

}  // namespace gradlab::drills
