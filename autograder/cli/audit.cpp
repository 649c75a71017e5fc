#include "cli/audit.hpp"

#include <fmt/format.h>

#include <map>

#include "cli/words.hpp"
#include "render/terminal.hpp"

namespace gradlab::cli {
namespace {

// "17 (3x) or 18 (7x)"; empty when all seeds gave the same.
std::string scores_in_words(const pipeline::Audit& audit) {
  std::map<std::string, int> scores;
  for (const auto& score : audit.scores) ++scores[score ? std::to_string(*score) : "no score"];
  if (scores.size() <= 1) return "";
  std::vector<std::string> parts;
  for (const auto& [score, times] : scores) parts.push_back(fmt::format("{} ({}x)", score, times));
  return joined(parts, "or");
}

// The checks that pass with one seed and not with another.
std::vector<std::string> faulty_checks(const pipeline::Audit& audit) {
  std::map<std::string, size_t> failed;
  for (const auto& names : audit.not_passing) {
    for (const auto& name : names) ++failed[name];
  }
  std::vector<std::string> faulty;
  for (const auto& [name, times] : failed) {
    if (times < audit.not_passing.size()) faulty.push_back(name);
  }
  return faulty;
}

}  // namespace

void audit_seeds(const pipeline::BatchRun& run, int count, Session& session) {
  std::vector<std::string> seeds;
  for (int i = 0; i < count; ++i) seeds.push_back(fmt::format("{}-{}", run.folder.seed(), i));
  const auto audits = pipeline::audit_batch(run, seeds, [&](const std::string& student) {
    if (session.options.terminal) print("\r\x1b[K" + render::printable(student));
  });
  if (session.options.terminal) print("\r\x1b[K");
  int unsteady = 0;
  for (size_t i = 0; i < audits.size(); ++i) {
    const auto scores = scores_in_words(audits[i]);
    if (scores.empty()) continue;
    ++unsteady;
    print(fmt::format("{}: score {} by seed; look at {}\n",
                      render::printable(run.hand_ins[i].student), scores,
                      joined(faulty_checks(audits[i]))));
  }
  if (unsteady == 0) {
    print(fmt::format("audit: {} hand-ins x {} seeds, every score is the same\n", audits.size(),
                      count));
    return;
  }
  print(fmt::format("audit: {} of {} hand-ins score differently by seed: a check is faulty\n",
                    unsteady, audits.size()));
  session.exit_status = kCheckFailed;
}

}  // namespace gradlab::cli
