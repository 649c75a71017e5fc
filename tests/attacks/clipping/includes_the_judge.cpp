// Asks for the headers that checks, judge and runner are written with.
#include "clipping.hpp"
#include "judge/subject.hpp"
#include "lists.hpp"
#include "protocol/frame.hpp"
#include "runner/lab.hpp"
