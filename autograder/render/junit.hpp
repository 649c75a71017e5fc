// JUnit XML in the subset that GitLab, Jenkins, Buildkite and GitHub's reporters all read: one
// testsuites root, unique (classname, name), numeric time, at most one failure, error or skipped a
// case, short bodies, no control characters.
#pragma once

#include <string>
#include <vector>

#include "record/record.hpp"

namespace gradlab::render {

// A suite a hand-in, a case a check. A hand-in that never came to its checks has a case `hand-in`
// that says why.
std::string junit_xml(const std::vector<Record>& records);

}  // namespace gradlab::render
