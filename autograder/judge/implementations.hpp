// The implementations that the judge is built with: the reference's, the known mistakes', and the
// do-nothing ones that must earn no point. A lab's own files register them at program start.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/lab.hpp"

namespace gradlab {

// A wrong implementation and the misconception behind it.
struct Bug {
  std::string name;    // lower_snake, unique in the lab: "scales_always"
  std::string belief;  // what the student believed: "clipping always brings the norm to the limit"
  std::string hint;    // a question that leads away from it
  std::vector<std::string> caught_by;  // exactly the checks that it fails, by assertion
};

struct KnownBug : Bug {
  AnyImpl impl;
};

struct Implementations {
  AnyImpl reference;  // null in a copy without reference/
  std::vector<KnownBug> bugs;
  std::map<std::string, AnyImpl> idle;  // by name: "returns_zero"
};

Implementations& implementations();

template <typename Impl>
bool set_reference(const Impl& impl) {
  implementations().reference = std::make_shared<Impl>(impl);
  return true;
}

template <typename Impl>
bool add_bug(Bug bug, const Impl& impl) {
  implementations().bugs.push_back({std::move(bug), std::make_shared<Impl>(impl)});
  return true;
}

}  // namespace gradlab
