// Makes the compiler itself crash.
#include "clipping.hpp"

#pragma clang __debug crash
