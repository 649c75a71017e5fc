// Names of checks, to be added to and taken from: most known mistakes fail groups of them.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace gradlab {

class CheckNames {
 public:
  CheckNames(const char* name) : names_{name} {}
  CheckNames(std::initializer_list<const char*> names) : names_(names.begin(), names.end()) {}
  operator std::vector<std::string>() const { return names_; }

  friend CheckNames operator+(CheckNames left, const CheckNames& right) {
    left.names_.insert(left.names_.end(), right.names_.begin(), right.names_.end());
    return left;
  }
  friend CheckNames operator-(CheckNames left, const CheckNames& right) {
    for (const auto& name : right.names_) std::erase(left.names_, name);
    return left;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace gradlab
