// Reads a file of the machine through the compiler's messages.
#include "clipping.hpp"
#include "/etc/passwd"
