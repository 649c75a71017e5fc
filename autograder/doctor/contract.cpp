#include "doctor/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace gradlab::doctor {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Contract {
 public:
  Contract(const Manifest& lab, const Contents& contents) : lab_(lab), contents_(contents) {}

  void checks() {
    std::set<std::string> listed;
    for (const auto& check : contents_.checks) {
      listed.insert(check.name);
      const auto* task = lab_.task_of(check.name);
      if (task == nullptr) {
        bad(fmt::format("the check task{}_{} is not in lab.toml", check.task, check.name),
            "give it points there, or take its TEST_F away");
      } else if (task->id != check.task) {
        bad(fmt::format("lab.toml has {} in task {}, its TEST_F is task{}_{}", check.name, task->id,
                        check.task, check.name),
            "");
      }
    }
    for (const auto& task : lab_.tasks) {
      for (const auto& check : task.checks) {
        if (listed.contains(check.name)) continue;
        bad(fmt::format("lab.toml has {} in task {}, but no check has that name", check.name,
                        task.id),
            fmt::format("write TEST_F(..., task{}_{}), or take the line away", task.id,
                        check.name));
      }
    }
  }

  void guards() {
    for (const auto& task : lab_.tasks) {
      int regime = 0;
      for (const auto& check : task.checks) {
        if (check.regime) regime += check.points;
        if (!check.guard || lab_.task_of(check.needs) == &task) continue;
        bad(fmt::format("the guard {} of task {} needs {}, a check of another task", check.name,
                        task.id, check.needs),
            "name a check of its own task");
      }
      if (regime > 0 && 3 * regime < task.max_points()) {
        bad(fmt::format("the regime of task {} carries {} of {} points", task.id, regime,
                        task.max_points()),
            "give it a third at least: an answer that ignores it must lose what it deserves");
      }
    }
  }

  void functions(const std::filesystem::path& header) {
    std::set<int> seen;
    for (const auto& function : functions_of(lab_.slug, text_of(header))) {
      seen.insert(function.task);
      if (lab_.task(function.task) != nullptr) continue;
      bad(fmt::format("the contract's {} is of task {}, which lab.toml does not have",
                      function.name, function.task),
          "");
    }
    for (const auto& task : lab_.tasks) {
      if (seen.contains(task.id)) continue;
      bad(fmt::format("no function of the contract is of task {}", task.id),
          fmt::format("its Impl labels each function: name{{\"{}.{}\"}}", lab_.slug, task.id));
    }
  }

  void implementations() {
    std::set<std::string> names, caught;
    for (const auto& bug : contents_.bugs) {
      if (!names.insert(bug.name).second) bad("two bugs are called " + bug.name, "");
      if (bug.belief.empty() || bug.hint.empty()) {
        bad(fmt::format("bug {} has no belief or no hint", bug.name),
            "say what is believed, and ask a question that leads away from it");
      }
      if (!bug.hint.empty() && bug.hint.back() != '?') {
        proof.notes.push_back(fmt::format("the hint of bug {} is no question", bug.name));
      }
      for (const auto& name : bug.caught_by) {
        caught.insert(name);
        if (lab_.check(name) != nullptr) continue;
        bad(fmt::format("bug {} names {}, which is no check", bug.name, name), "");
      }
    }
    if (contents_.idle.empty()) {
      bad("the judge has no do-nothing answers, so nothing shows that they earn no point",
          fmt::format("add_idle_answers<{}::Impl>() in a file of the checks registers them",
                      lab_.slug));
    }
    for (const auto& check : contents_.checks) {
      if (caught.contains(check.name)) continue;
      bad(fmt::format("no bug fails {}: a check that nothing fails proves nothing", check.name),
          fmt::format("write the mistake that it is there for, in reference/{}/bugs", lab_.slug));
    }
  }

  void hints() {
    for (const auto& task : lab_.tasks) {
      if (task.hints.size() >= 2) continue;
      proof.notes.push_back(fmt::format("task {} has {}: a student who is stuck needs two or three",
                                        task.id, task.hints.empty() ? "no hint" : "one hint"));
    }
  }

  Proof proof;

 private:
  void bad(std::string what, std::string mend) {
    proof.problems.push_back({std::move(what), std::move(mend)});
  }

  const Manifest& lab_;
  const Contents& contents_;
};

}  // namespace

bool can_be_run(const Manifest& lab, const Contents& contents) {
  for (const auto& task : lab.tasks) {
    for (const auto& check : task.checks) {
      const auto is_it = [&](const ListedCheck& listed) {
        return listed.name == check.name && listed.task == task.id;
      };
      if (std::none_of(contents.checks.begin(), contents.checks.end(), is_it)) return false;
    }
  }
  return true;
}

std::vector<ContractFunction> functions_of(const std::string& slug, const std::string& header) {
  // Function<decltype(clipping::total_norm)> total_norm{"clipping.1"};
  const std::regex entry(R"re((\w+)\s*\{\s*")re" + slug + R"re(\.(\d{1,2})"\s*\})re");
  std::vector<ContractFunction> functions;
  for (std::sregex_iterator at(header.begin(), header.end(), entry), end; at != end; ++at) {
    functions.push_back({(*at)[1], std::stoi((*at)[2])});
  }
  return functions;
}

Proof contract(const Manifest& lab, const Contents& contents,
               const std::filesystem::path& contract_header) {
  Contract look(lab, contents);
  look.checks();
  look.guards();
  look.functions(contract_header);
  look.implementations();
  look.hints();
  look.proof.said = look.proof.problems.empty()
                        ? "contract ok"
                        : fmt::format("contract has {} faults", look.proof.problems.size());
  return std::move(look.proof);
}

}  // namespace gradlab::doctor
