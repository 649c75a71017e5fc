// Prints what the compiler says when a precompiled header is damaged.
#include "clipping.hpp"

#pragma message "malformed or corrupted AST file: 'all.hpp.pch'"
#error fatal error: file has been modified since the precompiled header was built
