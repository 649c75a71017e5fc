#include <nlohmann/json.hpp>

#include "training_log/output/text.hpp"

namespace gradlab::training_log {
namespace {

using Json = nlohmann::ordered_json;

Json finding_json(const Finding& finding) {
  return {{"name", finding.name},
          {"severity", word_of(finding.severity)},
          {"confidence", word_of(finding.confidence)},
          {"first_step", finding.first},
          {"last_step", finding.last},
          {"evidence", finding.evidence},
          {"causes", finding.causes},
          {"change_first", diagnosis(finding.name).change_first}};
}

Json run_json(const Run& run) {
  Json findings = Json::array();
  for (const Finding& finding : run.findings) findings.push_back(finding_json(finding));
  return {{"first_step", run.first},
          {"last_step", run.last},
          {"lines", run.lines},
          {"skips", run.has_skips ? Json(run.skips) : Json(nullptr)},
          {"nonfinite_losses", run.nonfinite_losses},
          {"findings", findings}};
}

}  // namespace

std::string report_json(const Report& report) {
  Json formats = Json::array(), runs = Json::array();
  for (const Format format : report.formats) formats.push_back(name_of(format));
  for (const auto& run : report.runs) runs.push_back(run_json(*run));
  const Json json = {{"file", report.path},   {"formats", formats},
                     {"lines", report.lines}, {"not_understood", report.not_understood},
                     {"notes", report.notes}, {"runs", runs}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gradlab::training_log
