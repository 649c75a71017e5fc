#include "includes_itself.cpp"

#include "clipping.cpp"
