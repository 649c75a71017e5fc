#include "judge/built_in.hpp"

#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "judge/grading.hpp"
#include "judge/run_check.hpp"

namespace gradlab {

AnyImpl built_in(const std::string& subject) {
  const auto& all = implementations();
  if (subject == "reference") return all.reference;
  const auto colon = subject.find(':');
  const std::string kind = subject.substr(0, colon);
  const std::string name = colon == std::string::npos ? "" : subject.substr(colon + 1);
  if (kind == "idle" && all.idle.contains(name)) return all.idle.at(name);
  if (kind == "bug") {
    for (const auto& bug : all.bugs) {
      if (bug.name == name) return bug.impl;
    }
  }
  throw std::runtime_error(fmt::format("this judge knows no implementation '{}'", subject));
}

int grade_built_in(const std::string& subject, const std::string& seed) {
  GradingOrder order;
  order.seeds = {seed};
  order.diagnose = false;
  for (const auto& [name, task] : known_checks()) order.checks.push_back({name, task});
  const auto judged = subject_in_child(built_in(subject));
  const auto reference = subject_in_process(implementations().reference);
  grade(*judged, *reference, order, [](const nlohmann::json& event) {
    if (event.at("event") != "check") return;
    fmt::print("{:<14}{:<48}{:6.1f} ms", event.at("verdict").get<std::string>(),
               event.at("name").get<std::string>(), event.at("seconds").get<double>() * 1e3);
    if (event.contains("closest"))
      fmt::print("  closest {:.2g}", event.at("closest").get<double>());
    if (event.contains("failing")) {
      const auto& failing = event.at("failing");
      fmt::print("  {} | {} expected {} got {}", failing.at("case").value("text", ""),
                 failing.at("place").get<std::string>(), failing.at("expected").get<std::string>(),
                 failing.at("got").get<std::string>());
    }
    fmt::print("  {}\n", event.at("message").get<std::string>());
  });
  return 0;
}

int print_contents() {
  const auto& all = implementations();
  nlohmann::json contents = {{"lab", lab().slug},
                             {"torch", TORCH_VERSION},
                             {"cpu_capability", at::get_cpu_capability()},
                             {"has_reference", all.reference != nullptr},
                             {"checks", nlohmann::json::array()},
                             {"bugs", nlohmann::json::array()},
                             {"idle", nlohmann::json::array()}};
  for (const auto& [name, task] : known_checks()) {
    contents["checks"].push_back({{"name", name}, {"task", task}});
  }
  for (const auto& bug : all.bugs) {
    contents["bugs"].push_back({{"name", bug.name},
                                {"belief", bug.belief},
                                {"hint", bug.hint},
                                {"caught_by", bug.caught_by}});
  }
  for (const auto& [name, impl] : all.idle) contents["idle"].push_back(name);
  fmt::print("{}\n", contents.dump());
  return 0;
}

}  // namespace gradlab
