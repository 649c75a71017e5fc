// Where an answer first differs from what was expected: data for the record, words for people.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gradlab {

struct Mismatch {
  // Which value, which tensor of its list, which element; -1 and empty where that has no meaning.
  std::string value;
  int64_t tensor = -1;
  std::vector<int64_t> element;

  std::string expected;
  std::string got;
  std::optional<double> expected_number;  // what a replay compares with
  std::optional<double> got_number;
  std::optional<double> off_by;
  std::optional<double> allowed;
  int64_t differing = 1;
  int64_t of = 1;  // 0 where nothing is counted

  std::string place() const;                  // "gradient 3, element [1,3]"
  nlohmann::json where() const;               // the place as data: value, tensor, element
  void write(nlohmann::json& failing) const;  // the record's fields
};

// A number as its type writes it: 0.3 for the float nearest to it, not 0.30000001192092896.
std::string shown(double value, torch::ScalarType dtype = torch::kFloat64);

// Two numbers with as few digits as tell them apart, six at least: {"0.3", "0.999997"}. All digits
// where they are equal.
std::pair<std::string, std::string> shown_apart(double expected, double got,
                                                torch::ScalarType dtype = torch::kFloat64);

}  // namespace gradlab
