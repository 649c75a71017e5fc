// Names of lists in words about one of them.
#pragma once

#include <string>

namespace gradlab {

// "gradient" of "gradients", "loss" of "losses".
std::string singular(std::string name);

}  // namespace gradlab
