#include "doctor/mutants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "doctor/rounds.hpp"
#include "render/terminal.hpp"

namespace gradlab::doctor {
namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of the longest list of tensors in a recorded case.
void measure(const nlohmann::json& recorded, Mutant& mutant) {
  if (!recorded.contains("input")) return;
  const auto tensors = recorded["input"].value("tensors", nlohmann::json::object());
  for (const auto& [name, list] : tensors.items()) {
    if (list.size() > mutant.tensors) mutant.elements = 0;
    if (list.size() < mutant.tensors) continue;
    mutant.tensors = list.size();
    for (const auto& tensor : list) {
      if (tensor.is_object()) {
        mutant.elements = std::max(mutant.elements, tensor.at("data").size());
      }
    }
  }
}

Mutant mutant_of(const std::string& bug, const Record& record) {
  Mutant mutant;
  mutant.bug = bug;
  bool measured = false;
  for (const auto& task : record.tasks) {
    for (const auto& check : task.checks) {
      if (check.came.value_or(check.verdict) != record::Verdict::kFail) continue;
      mutant.killed_by.push_back(check.name);
      if (check.failing && !measured) {
        measure(check.failing->input, mutant);
        measured = true;
      }
      if (!check.behaves_like) continue;
      Names also = check.behaves_like->also;
      also.insert(also.begin(), check.behaves_like->bug);
      for (const auto& name : also) {
        if (!holds(mutant.named, name)) mutant.named.push_back(name);
      }
    }
  }
  return mutant;
}

Round mutants(const Place& place, std::vector<Mutant>& into) {
  into.resize(place.contents.bugs.size());
  Round round;
  for (size_t i = 0; i < into.size(); ++i) {
    round.jobs.push_back([&place, &into, i](pipeline::Worker& worker) {
      const auto& name = place.contents.bugs[i].name;
      const auto start = start_of("bug:" + name, "1", place);
      const Record record = worker.grade_built_in("bug:" + name, start, /*diagnose=*/true);
      if (!record.score) return Problems{fault("bug " + name, record)};
      into[i] = mutant_of(name, record);
      if (!into[i].killed_by.empty()) return Problems{};
      return Problems{{fmt::format("no check fails the bug {}", name), "write one that does"}};
    });
  }
  round.say = [](const std::vector<Problems>&) { return std::string("mutants"); };
  return round;
}

std::size_t median(std::vector<std::size_t> all) {
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Checks without which every mistake would still be killed.
Names needed_by_none(const Manifest& lab, const std::vector<Mutant>& all) {
  Names names;
  for (const auto& task : lab.tasks) {
    for (const auto& check : task.checks) {
      const bool needed = std::any_of(all.begin(), all.end(), [&](const Mutant& mutant) {
        return mutant.killed_by == Names{check.name};
      });
      if (!needed) names.push_back(check.name);
    }
  }
  return names;
}

std::string say_sizes(const std::vector<Mutant>& all) {
  std::vector<std::size_t> tensors, elements;
  Names large;
  for (const auto& mutant : all) {
    if (mutant.tensors == 0) continue;
    tensors.push_back(mutant.tensors);
    elements.push_back(mutant.elements);
    if (mutant.tensors > 3) {
      large.push_back(fmt::format("{} ({} of {})", mutant.bug, mutant.tensors, mutant.elements));
    }
  }
  return fmt::format(
      "counterexamples of {}: median {} tensors of {} elements; more than 3 tensors: {}",
      tensors.size(), median(tensors), median(elements),
      large.empty() ? "none" : fmt::format("{}", fmt::join(large, ", ")));
}

std::string say_names(const std::vector<Mutant>& all) {
  size_t alone = 0;
  size_t tied = 0;
  Names ties, others;
  for (const auto& mutant : all) {
    if (mutant.named == Names{mutant.bug}) {
      ++alone;
    } else if (holds(mutant.named, mutant.bug)) {
      ++tied;
      const auto tie = fmt::format("{}", fmt::join(mutant.named, " = "));
      if (!holds(ties, tie)) ties.push_back(tie);  // the same seen from each of them
    } else {
      others.push_back(fmt::format("{} (named: {})", mutant.bug,
                                   mutant.named.empty() ? "none" : mutant.named.front()));
    }
  }
  std::string said = fmt::format("named alone {} of {}; in a tie {}; not named {}", alone,
                                 all.size(), tied, others.size());
  if (!ties.empty()) said += fmt::format("; ties: {}", fmt::join(ties, ", "));
  if (!others.empty()) said += fmt::format("; not named: {}", fmt::join(others, ", "));
  return said;
}

size_t killed(const std::vector<Mutant>& all) {
  return static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [](const Mutant& mutant) { return !mutant.killed_by.empty(); }));
}

}  // namespace

Mutation mutate(const Place& place, const Runs& runs) {
  Mutation mutation;
  mutation.proofs = run({mutants(place, mutation.mutants), idle_answers(place, runs.of_others),
                         right_answers(place, runs.seeds)},
                        place, runs);
  return mutation;
}

std::string say(const Manifest& lab, const Mutation& mutation, const View& view) {
  const auto& all = mutation.mutants;
  std::string head = fmt::format("{}: bugs killed {} of {}", lab.slug, killed(all), all.size());
  for (size_t i = 1; i < mutation.proofs.size(); ++i) head += "; " + mutation.proofs[i].said;
  const auto removable = needed_by_none(lab, all);
  const auto unneeded =
      fmt::format("checks that no bug needs, {} of them: {}", removable.size(),
                  removable.empty() ? "none" : fmt::format("{}", fmt::join(removable, ", ")));
  std::string text;
  for (const auto& line : {head, say_names(all), say_sizes(all), unneeded}) {
    std::string margin = text.empty() ? "" : "  ";
    for (const auto& part : render::wrapped(render::printable(line), view.width - 4)) {
      text += margin + part + "\n";
      margin = "    ";
    }
  }
  return text + say_problems(mutation.proofs, view);
}

}  // namespace gradlab::doctor
