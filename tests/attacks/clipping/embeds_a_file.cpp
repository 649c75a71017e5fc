// The same through the preprocessor.
#include "clipping.hpp"

static const unsigned char kTaken[] = {
#embed "/etc/passwd"
};
