// Reads a file of the machine through the compiler's messages.
#include "/etc/passwd"
#include "clipping.hpp"
