// The judge's handle on an implementation: ask it for observations, wherever it lives.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/case.hpp"
#include "protocol/observation.hpp"
#include "runner/lab.hpp"

namespace gradlab {

class Subject {
 public:
  virtual ~Subject() = default;
  // One observation a case, in order. A run that gave no answer has its `fault` set, and so have
  // the runs after it where they were not tried.
  virtual std::vector<Observation> observe(const std::string& experiment,
                                           const std::vector<Case>& cases) = 0;
};

// In this process: for the reference, whose code is ours and right.
std::unique_ptr<Subject> subject_in_process(AnyImpl impl);

// In a forked child for each batch: for known mistakes, which may keep state or crash.
std::unique_ptr<Subject> subject_in_child(AnyImpl impl);

// The same, a case at a time and only for as long as `go_on` says so.
void ask_in_child(const AnyImpl& impl, const std::string& experiment,
                  const std::vector<Case>& cases,
                  const std::function<bool(size_t index, Observation seen)>& go_on);

}  // namespace gradlab
