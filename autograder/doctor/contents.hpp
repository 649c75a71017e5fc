// What a lab's judge is built with, as `judge_<slug> --list` tells.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gradlab::doctor {

struct ListedCheck {
  std::string name;
  int task = 0;
};

struct ListedBug {
  std::string name;
  std::string belief;
  std::string hint;
  std::vector<std::string> caught_by;
};

struct Contents {
  bool has_reference = false;
  std::vector<ListedCheck> checks;
  std::vector<ListedBug> bugs;
  std::vector<std::string> idle;
};

// Throws nlohmann::json::exception for what no judge writes.
Contents contents_from(const nlohmann::json& listed);

}  // namespace gradlab::doctor
