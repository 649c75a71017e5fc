#include "doctor/handout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

#include "doctor/contract.hpp"
#include "doctor/markdown.hpp"
#include "manifest/errors.hpp"

namespace gradlab::doctor {
namespace fs = std::filesystem;
namespace {

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// "labs/clipping/lab.toml", "handouts/", "clipping.hpp"; neither "a / b" nor "torch::nn".
bool is_path(const std::string& code) {
  static const std::regex path(
      R"(\.?[\w.-]+(/[\w.-]+)+/?|[\w.-]+/|[\w-]+\.(cpp|hpp|md|toml|json))");
  return std::regex_match(code, path);
}

class Handout {
 public:
  Handout(const Manifest& lab, const Contents& contents, const Surroundings& around)
      : lab_(lab),
        around_(around),
        name_(fmt::format("handouts/{}.md", lab.slug)),
        contract_(text_of(lab.directory / (lab.slug + ".hpp"))),
        functions_(functions_of(lab.slug, contract_)) {
    for (const auto& function : functions_) known_.push_back(function.name);
    for (const auto& check : contents.checks) known_.push_back(check.name);
  }

  Proof look() {
    if (!fs::exists(around_.root / name_)) {
      bad(fmt::format("{} is missing", name_), "write what a student reads first");
    } else {
      const auto sections = sections_of(text_of(around_.root / name_));
      tasks(sections);
      for (const auto& section : sections) {
        for (const auto& code : section.code) one(code);
      }
    }
    proof_.said = proof_.problems.empty() ? "handout, checks and manifest agree"
                                          : "handout disagrees with the lab";
    return std::move(proof_);
  }

 private:
  void bad(std::string what, std::string mend) {
    proof_.problems.push_back({std::move(what), std::move(mend)});
  }

  void tasks(const std::vector<Section>& sections) {
    for (const auto& section : sections) {
      if (section.task != 0 && lab_.task(section.task) == nullptr) {
        bad(fmt::format("{}:{} is of task {}, which lab.toml does not have", name_, section.line,
                        section.task),
            "");
      }
    }
    for (const auto& task : lab_.tasks) {
      const auto found = std::find_if(sections.begin(), sections.end(),
                                      [&](const Section& s) { return s.task == task.id; });
      if (found == sections.end()) {
        bad(fmt::format("{} has no section of task {}", name_, task.id),
            fmt::format("its heading is: ## Task {}: {}", task.id, task.title));
      } else {
        of_task(*found, task.id);
      }
    }
  }

  void of_task(const Section& section, int id) {
    for (const auto& function : functions_) {
      if (function.task != id || has(section.code, function.name)) continue;
      bad(fmt::format("{}:{}, task {}, does not name `{}`", name_, section.line, id, function.name),
          "");
    }
    const auto command = fmt::format("./gradlab check {} --task {}", lab_.slug, id);
    if (!has(section.code, command)) {
      bad(fmt::format("{}:{}, task {}, does not show its command", name_, section.line, id),
          fmt::format("add `{}`", command));
    }
    if (section.text.find("Predict first") == std::string::npos) {
      proof_.notes.push_back(
          fmt::format("{}:{}, task {}, asks nothing to predict first", name_, section.line, id));
    }
  }

  void one(const std::string& code) {
    if (code.starts_with("./gradlab")) {
      const auto wrong = around_.wrong_command(code);
      if (!wrong.empty()) bad(fmt::format("{} shows `{}`: {}", name_, code, wrong), "");
    } else if (is_path(code)) {
      if (!exists(code)) bad(fmt::format("{} names `{}`, which is not there", name_, code), "");
    } else if (code.starts_with(lab_.slug + "::")) {
      const std::string name = code.substr(lab_.slug.size() + 2);
      if (!has(known_, name.substr(0, name.find('(')))) {
        bad(fmt::format("{} names `{}`, which the contract does not declare", name_, code), "");
      }
    } else {
      misspelt(code);
    }
  }

  // A word that is nearly a function's or a check's, and stands nowhere in the contract: it had
  // that name once.
  void misspelt(const std::string& code) {
    static const std::regex name(R"([a-z]\w*_\w+)");
    if (!std::regex_match(code, name) || has(known_, code) ||
        std::regex_search(contract_, std::regex("\\b" + code + "\\b"))) {
      return;
    }
    for (const auto& known : known_) {
      if (!manifest::errors::is_near(code, known)) continue;
      bad(fmt::format("{} names `{}`: is it {}?", name_, code, known), "");
      return;
    }
  }

  bool exists(const std::string& path) const {
    const auto include = around_.torch / "include";
    if (fs::exists(around_.root / path) || fs::exists(lab_.directory / path) ||
        fs::exists(include / path) || fs::exists(include / "torch/csrc/api/include" / path)) {
      return true;
    }
    const fs::path given = path;  // work/ is the student's: it is there once the lab is started
    return given.parent_path() == "work" && has(lab_.hand_in, given.filename());
  }

  const Manifest& lab_;
  const Surroundings& around_;
  std::string name_;
  std::string contract_;
  std::vector<ContractFunction> functions_;
  std::vector<std::string> known_;  // functions and checks
  Proof proof_;
};

}  // namespace

Proof handout(const Manifest& lab, const Contents& contents, const Surroundings& around) {
  return Handout(lab, contents, around).look();
}

}  // namespace gradlab::doctor
