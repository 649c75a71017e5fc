#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/app.hpp"

namespace gradlab::cli {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line.substr(0, line.find(" #")));
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool stands_for_something(const std::string& word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

const CLI::App* verb_of(const CLI::App& app, const std::string& name) {
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const CLI::App* verb) { return verb->get_name() == name; });
  return found == all.end() ? nullptr : *found;
}

std::vector<std::string> places_of(const CLI::App& verb) {
  std::vector<std::string> places;
  for (const auto* option : verb.get_options()) {
    if (option->get_positional()) places.push_back(option->get_name(true));
  }
  return places;
}

// One command line, read word by word.
class Reading {
 public:
  Reading(const CLI::App& verb, const Workspace& workspace)
      : verb_(verb), workspace_(workspace), places_(places_of(verb)) {}

  // From the first word behind the verb, and behind its action where it has some.
  void read(const std::vector<std::string>& words, size_t from) {
    for (size_t i = from; i < words.size(); ++i) {
      if (!words[i].starts_with("-")) {
        place(words[i]);
        continue;
      }
      const auto* option = verb_.get_option_no_throw(words[i]);
      if (option == nullptr) {
        throw UsageError(fmt::format("{} does not take {}", verb_.get_name(), words[i]));
      }
      if (option->get_items_expected_max() == 0) continue;
      if (++i == words.size()) throw UsageError(words[i - 1] + " has no value");
      if (words[i - 1] == "--task") task(words[i]);
      if (words[i - 1] == "--lab") lab_ = workspace_.find_slug(words[i]);
    }
  }

 private:
  void place(const std::string& word) {
    if (at_ == places_.size()) {
      throw UsageError(fmt::format("{} takes no word '{}'", verb_.get_name(), word));
    }
    const auto& what = places_[at_++];
    if (stands_for_something(word)) return;
    if (what == "LAB") lab_ = workspace_.find_slug(word);
    if (what == "LAB.TASK") workspace_.find_task(word);
  }

  void task(const std::string& number) {
    if (!lab_.empty() && !stands_for_something(number)) {
      workspace_.find_task(lab_ + "." + number);
    }
  }

  const CLI::App& verb_;
  const Workspace& workspace_;
  std::vector<std::string> places_;
  size_t at_ = 0;
  std::string lab_;
};

}  // namespace

std::string wrong_command(const CLI::App& app, const Workspace& workspace,
                          const std::string& line) {
  const auto words = words_of(line);
  // `setup` is the launcher's own.
  if (words.size() < 2 || words[1].starts_with("-") || words[1] == "setup" ||
      stands_for_something(words[1])) {
    return "";
  }
  const auto* verb = verb_of(app, words[1]);
  if (verb == nullptr) return fmt::format("there is no command '{}'", words[1]);
  size_t from = 2;
  if (const auto actions = verb->get_subcommands([](const CLI::App*) { return true; });
      !actions.empty() && words.size() > 2 && !words[2].starts_with("-")) {
    const auto* action = verb_of(*verb, words[2]);
    if (action == nullptr) return fmt::format("{} has no action '{}'", words[1], words[2]);
    verb = action;
    from = 3;
  }
  try {
    Reading(*verb, workspace).read(words, from);
  } catch (const UsageError& wrong) {
    const std::string what = wrong.what();
    return what.substr(0, what.find('\n'));
  }
  return "";
}

}  // namespace gradlab::cli
