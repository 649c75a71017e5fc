#include "cli/unit_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/drill_files.hpp"
#include "cli/explained.hpp"
#include "cli/files.hpp"
#include "cli/work_time.hpp"
#include "record/sha256.hpp"
#include "record/store.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

bool core_passes(const Record& record) {
  return std::all_of(record.tasks.begin(), record.tasks.end(), [](const auto& task) {
    return !task.core || task.verdict == record::Verdict::kPass;
  });
}

LabStatus status_of(const Workspace& workspace, const Manifest& lab) {
  LabStatus status;
  status.slug = lab.slug;
  status.title = lab.title;
  status.max_score = lab.max_points();
  status.planned_minutes = lab.minutes;
  const auto mine = workspace.work_file(lab.slug);
  status.started = fs::exists(mine);
  if (!status.started || !fs::exists(workspace.last_record(lab.slug))) return status;
  try {
    const auto record = record::read_record(workspace.last_record(lab.slug));
    status.score = record.score;
    if (!record.files.empty()) status.sha256 = record.files.front().sha256;
    status.changed = record::sha256(read_whole(mine)) != status.sha256;
    status.passes = !status.changed && record.score && core_passes(record);
  } catch (const std::exception&) {
    status.score.reset();  // a damaged record is none: the next check writes another
  }
  return status;
}

std::string stands(const LabStatus& lab) {
  if (!lab.started) return "not started";
  if (!lab.score) return "not checked";
  return fmt::format("{} of {}{}", *lab.score, lab.max_score, lab.changed ? ", changed since" : "");
}

Criterion lab_passes(const std::string& asks, const std::vector<LabStatus>& labs,
                     const std::string& slug) {
  const auto lab = std::find_if(labs.begin(), labs.end(),
                                [&](const LabStatus& each) { return each.slug == slug; });
  if (lab == labs.end()) return {asks, false, "this copy has no lab " + slug, ""};
  Criterion criterion{asks, lab->passes, fmt::format("{} {}", slug, stands(*lab)), ""};
  if (!lab->passes) {
    criterion.next = fmt::format("./gradlab {} {}", lab->started ? "check" : "start", slug);
  }
  return criterion;
}

// One log that is explained as a whole is enough; else the one that is nearest to it.
Criterion log_is_explained(const std::vector<LogStatus>& logs, const std::vector<LabStatus>& labs) {
  const std::string asks = "every skip of a log of yours explained";
  const LogStatus* best = nullptr;
  for (const auto& log : logs) {
    const auto left = [](const LogStatus& of) { return of.skips - of.explained; };
    if (best == nullptr || left(log) < left(*best)) best = &log;
  }
  if (best != nullptr) {
    const bool whole = best->explained == best->skips;
    return {asks, whole, fmt::format("{} of {} in {}", best->explained, best->skips, best->file),
            whole ? "" : "./gradlab explain " + best->file};
  }
  const bool runs = std::any_of(labs.begin(), labs.end(), [](const LabStatus& lab) {
    return lab.slug == "step_order" && lab.score.value_or(0) > 0;
  });
  return {asks, false, "no log yet",
          runs ? "./gradlab run step_order" : "./gradlab check step_order"};
}

std::vector<LogStatus> status_of_logs(const Workspace& workspace) {
  std::vector<LogStatus> logs;
  for (const auto& [hash, log] : explained_logs(workspace, /*look_only=*/true)) {
    logs.push_back({log.file, hash, log.skips.size(), log.explained.size()});
  }
  return logs;
}

void count_drills(const Workspace& workspace, UnitStatus& status) {
  const auto progress = DrillProgress::to_read(workspace);
  for (const auto& each : all_drills(workspace)) {
    ++status.drills_of;
    const auto item = progress.get().items.find(each.name);
    if (item == progress.get().items.end() || item->second.seen == 0) continue;
    ++status.drills_seen;
    if (item->second.due() <= progress.day()) ++status.drills_due;
  }
}

}  // namespace

bool UnitStatus::complete() const {
  return std::all_of(criteria.begin(), criteria.end(), [](const auto& each) { return each.met; });
}

std::string UnitStatus::next() const {
  for (const auto& criterion : criteria) {
    if (!criterion.met && !criterion.next.empty()) return criterion.next;
  }
  return drills_due > 0 ? "./gradlab drill --due" : "";
}

UnitStatus status_of_unit(const Workspace& workspace) {
  UnitStatus status;
  const auto minutes = minutes_worked(workspace);
  for (const auto& lab : workspace.labs()) {
    auto& each = status.labs.emplace_back(status_of(workspace, lab));
    if (const auto spent = minutes.find(lab.slug); spent != minutes.end()) {
      each.minutes = spent->second;
      status.minutes += spent->second;
    }
  }
  status.logs = status_of_logs(workspace);
  status.criteria = {lab_passes("clipping matches the reference", status.labs, "clipping"),
                     lab_passes("the dtype asserts hold", status.labs, "autocast"),
                     log_is_explained(status.logs, status.labs)};
  const auto book = ClosedBook::read(workspace, /*look_only=*/true);
  for (const auto& lab : status.labs) {
    if (const auto* best = book.best(lab.slug)) status.from_memory.push_back(*best);
  }
  count_drills(workspace, status);
  return status;
}

nlohmann::ordered_json to_json(const UnitStatus& status) {
  using Json = nlohmann::ordered_json;
  Json json = {{"format", "gradlab/status/1"}, {"complete", status.complete()}};
  json["criteria"] = Json::array();
  for (const auto& each : status.criteria) {
    json["criteria"].push_back({{"asks", each.asks}, {"met", each.met}, {"stands", each.stands}});
  }
  json["labs"] = Json::array();
  for (const auto& lab : status.labs) {
    json["labs"].push_back({{"lab", lab.slug},
                            {"passes", lab.passes},
                            {"score", lab.score ? Json(*lab.score) : Json()},
                            {"max_score", lab.max_score},
                            {"changed_since", lab.changed},
                            {"sha256", lab.sha256},
                            {"minutes", std::lround(lab.minutes)},
                            {"planned_minutes", lab.planned_minutes}});
  }
  json["logs"] = Json::array();
  for (const auto& log : status.logs) {
    json["logs"].push_back({{"file", log.file},
                            {"sha256", log.sha256},
                            {"skips", log.skips},
                            {"explained", log.explained}});
  }
  json["from_memory"] = Json::array();
  for (const auto& each : status.from_memory) {
    json["from_memory"].push_back({{"lab", each.lab},
                                   {"score", each.score},
                                   {"max_score", each.max_score},
                                   {"minutes", std::lround(each.minutes)},
                                   {"sha256", each.sha256}});
  }
  json["drills"] = {
      {"seen", status.drills_seen}, {"of", status.drills_of}, {"due", status.drills_due}};
  json["minutes"] = std::lround(status.minutes);
  return json;
}

}  // namespace gradlab::cli
