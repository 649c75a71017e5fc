// What to do about the compiler errors that students of these labs meet most.
#pragma once

#include <string>
#include <vector>

namespace gradlab::compile {

// Empty where we know none. The first entry that fits counts.
std::string hint_for(const std::string& message, const std::vector<std::string>& excerpt);

}  // namespace gradlab::compile
