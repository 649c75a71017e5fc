// A state as numbers by name, read or written by one description of what there is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "json_line.hpp"

namespace gradlab::monitor {

class Numbers {
 public:
  // To be written.
  Numbers() = default;
  // To be read.
  explicit Numbers(std::map<std::string, double> given) : given_(std::move(given)), reads_(true) {}

  // Whether there is anything of that name's beginning to read; true when writing.
  bool has(const std::string& name) const { return !reads_ || given_.count(as_written(name)) != 0; }

  void value(const std::string& name, double& place) {
    if (!reads_) {
      written_.emplace_back(name, place);
    } else if (const auto found = given_.find(as_written(name)); found != given_.end()) {
      place = found->second;
    }
  }
  void value(const std::string& name, int64_t& place) {
    auto number = static_cast<double>(place);
    value(name, number);
    constexpr double kMost = 9007199254740992;  // 2^53: what a double counts to
    place = static_cast<int64_t>(std::clamp(number, -kMost, kMost));
  }
  void value(const std::string& name, bool& place) {
    double number = place ? 1 : 0;
    value(name, number);
    place = number != 0;
  }
  template <typename Enum>
  void choice(const std::string& name, Enum& place, Enum last) {
    auto number = static_cast<double>(place);
    value(name, number);
    if (number >= 0 && number <= static_cast<double>(last)) {
      place = static_cast<Enum>(static_cast<int>(number));
    }
  }

  bool reads() const noexcept { return reads_; }
  const std::vector<std::pair<std::string, double>>& written() const noexcept { return written_; }

 private:
  // A key as it stands in the text: the AMP library's reader leaves escapes as they are.
  static std::string as_written(const std::string& key) {
    const std::string quoted = json_string(key);
    return quoted.substr(1, quoted.size() - 2);
  }

  std::map<std::string, double> given_;
  std::vector<std::pair<std::string, double>> written_;
  bool reads_ = false;
};

}  // namespace gradlab::monitor
