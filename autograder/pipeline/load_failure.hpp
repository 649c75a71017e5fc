// A hand-in that compiled, and that the runner could not load.
#pragma once

#include <string>

#include "record/record.hpp"

namespace gradlab::pipeline {

// `why`: the loader's words, "/in/student.so: undefined symbol: _Z6helperd".
void refuse_for_load_failure(Record& record, const std::string& why, const Manifest& lab);

}  // namespace gradlab::pipeline
