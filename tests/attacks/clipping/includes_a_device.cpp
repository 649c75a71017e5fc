#include "/dev/urandom"
#include "/dev/zero"
