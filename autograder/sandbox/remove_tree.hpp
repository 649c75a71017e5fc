// Removes a folder that a hand-in filled: no link is followed, and no depth or mode stops it.
#pragma once

#include <string>

namespace gradlab::sandbox {

// REQUIRES: nobody else changes it meanwhile. Stops in silence at what cannot be removed.
void remove_tree(const std::string& folder);

}  // namespace gradlab::sandbox
