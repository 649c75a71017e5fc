// The machine's files by every other way to write an include.
%:include </etc/shadow>
#import "/etc/hosts"
#include_next "/etc/passwd"
#define WHERE "/proc/self/environ"
#include WHERE
#include "clipping.hpp"

asm(".include \"/etc/passwd\"");
