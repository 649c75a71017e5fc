#include "doctor/contents.hpp"

namespace gradlab::doctor {

Contents contents_from(const nlohmann::json& listed) {
  Contents contents;
  contents.has_reference = listed.at("has_reference").get<bool>();
  for (const auto& check : listed.at("checks")) {
    contents.checks.push_back({check.at("name").get<std::string>(), check.at("task").get<int>()});
  }
  for (const auto& bug : listed.at("bugs")) {
    contents.bugs.push_back({bug.at("name").get<std::string>(), bug.at("belief").get<std::string>(),
                             bug.at("hint").get<std::string>(),
                             bug.at("caught_by").get<std::vector<std::string>>()});
  }
  contents.idle = listed.at("idle").get<std::vector<std::string>>();
  return contents;
}

}  // namespace gradlab::doctor
