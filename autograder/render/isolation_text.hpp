// What a weaker isolation does not promise, for whoever reads the results.
#pragma once

#include <string>
#include <vector>

#include "record/record.hpp"

namespace gradlab::render {

// The sentences of all isolations that these records name; empty when all were graded in full.
std::vector<std::string> not_promised(const std::vector<Record>& records);

// For a terminal, with new lines; "" when there is nothing to say.
std::string render_not_promised(const std::vector<Record>& records, int width);

}  // namespace gradlab::render
