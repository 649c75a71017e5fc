#include "cli/messages.hpp"

#include <fmt/format.h>

#include "cli/words.hpp"
#include "render/terminal.hpp"

namespace gradlab::cli::messages {
namespace {

std::string meant(const std::string& nearest, const std::string& before = "") {
  return nearest.empty() ? "" : fmt::format("Did you mean {}{}? ", before, nearest);
}

}  // namespace

UsageError no_root() {
  return UsageError(
      "this is no copy of gradlab: neither here nor above is a folder with labs/ and gradlab.\n"
      "Change into the copy, or name it: GRADLAB_ROOT=/path/to/gradlab");
}

UsageError no_labs(const std::string& folder) {
  return UsageError(fmt::format(
      "there is no lab: {} holds no folder with a lab.toml.\nWrite one with: ./gradlab new SLUG",
      folder));
}

UsageError unknown_lab(const std::string& word, const std::vector<std::string>& labs) {
  return UsageError(fmt::format("unknown lab '{}'. {}There {} {}.", word,
                                meant(nearest(word, labs)), labs.size() == 1 ? "is" : "are",
                                joined(labs)));
}

UsageError unknown_word(const std::string& text, const std::string& nearest) {
  return UsageError(
      fmt::format("'{}' is no word that is explained here. {}All of them: ./gradlab what",
                  render::printable(text), meant(nearest)));
}

UsageError unknown_attack(const std::string& word, const std::string& nearest) {
  return UsageError(
      fmt::format("tests/attacks/bank.toml has no case '{}'. {}./gradlab attacks runs "
                  "all of them.",
                  word, meant(nearest)));
}

UsageError attacks_without_isolation() {
  return UsageError(
      "without isolation the attacks would act on this machine: leave --isolation out, or name "
      "full "
      "or container");
}

UsageError two_labs(const std::string& word, const std::vector<std::string>& matches) {
  return UsageError(fmt::format("{} labs match '{}': {}.\nWrite more of the name.",
                                matches.size() == 2 ? "two" : "several", word, joined(matches)));
}

UsageError not_a_task(const std::string& word, const std::string& example) {
  return UsageError(
      fmt::format("'{}' is no task. A task is a lab and a number, such as {}.", word, example));
}

UsageError unknown_task(const std::string& slug, const std::string& number,
                        const std::vector<int>& tasks) {
  std::vector<std::string> names;
  for (const int id : tasks) names.push_back(fmt::format("{}.{}", slug, id));
  return UsageError(fmt::format("{} has no task {}. There {} {}.", slug, number,
                                names.size() == 1 ? "is" : "are", joined(names)));
}

UsageError nothing_started(const std::string& first) {
  return UsageError(fmt::format(
      "no lab is started: work/ holds no file of one.\nStart with: ./gradlab start {}", first));
}

UsageError not_started(const std::string& slug) {
  return UsageError(fmt::format(
      "{0} is not started: there is no work/{0}.cpp.\nStart with: ./gradlab start {0}", slug));
}

UsageError unknown_verb(const std::string& word, const std::string& nearest) {
  return UsageError(fmt::format("unknown command '{}'. {}All of them: ./gradlab --help", word,
                                meant(nearest, "./gradlab ")));
}

UsageError unknown_action(const std::string& verb, const std::string& word,
                          const std::string& nearest, const std::vector<std::string>& actions) {
  const std::string what = word.empty() ? fmt::format("{} needs an action. ", verb)
                                        : fmt::format("{} has no action '{}'. ", verb, word);
  return UsageError(fmt::format("{}{}There are {}.\nHow it is used: ./gradlab {} --help", what,
                                word.empty() ? "" : meant(nearest), joined(actions), verb));
}

UsageError unknown_option(const std::string& verb, const std::string& word,
                          const std::string& nearest) {
  return UsageError(fmt::format("{} does not take '{}'. {}What it takes: ./gradlab {} --help", verb,
                                word, meant(nearest), verb));
}

UsageError bad_command_line(const std::string& verb, const std::string& what) {
  return UsageError(fmt::format("{}: {}\nHow it is used: ./gradlab {}{}--help",
                                verb.empty() ? "gradlab" : verb, what, verb,
                                verb.empty() ? "" : " "));
}

UsageError already_started(const std::string& path, const std::string& slug) {
  return UsageError(fmt::format(
      "{0} is there already and was not touched.\n"
      "Go on with: ./gradlab check {1}     Begin anew: ./gradlab reset {1} (keeps a copy)",
      path, slug));
}

UsageError all_started() {
  return UsageError("every lab is started. How far you are: ./gradlab list");
}

UsageError nothing_to_reset(const std::string& path, const std::string& slug) {
  return UsageError(
      fmt::format("there is no {} to put aside.\nBegin with: ./gradlab start {}", path, slug));
}

UsageError not_copied(const std::string& path, const std::string& why) {
  return UsageError(fmt::format(
      "{} could not be written: {}.\nNothing was changed. Mend that and run it again.", path, why));
}

UsageError bad_slug(const std::string& word) {
  return UsageError(fmt::format(
      "'{}' cannot be a lab's slug: it becomes a file, a folder and a C++ namespace, so it is\n"
      "lower case letters, digits and single '_' between them, a letter first. Such as: "
      "weight_decay",
      word));
}

UsageError slug_of_cpp(const std::string& slug, const std::string& what) {
  return UsageError(fmt::format(
      "'{}' cannot be a lab's slug: it becomes a C++ namespace, and the compiler says:\n"
      "  {}\nNothing was written. Take another word.",
      slug, what));
}

UsageError slug_taken(const std::string& slug, const std::string& path) {
  return UsageError(fmt::format(
      "there is a lab '{}' already, or a part of one: {}.\nNothing was written. Take another slug, "
      "or move that file away.",
      slug, path));
}

UsageError no_steps(const std::string& path) {
  return UsageError(fmt::format(
      "{}: no line of it was understood as a training step.\n"
      "./gradlab log show {} tells what stands there; all formats: handouts/reading_logs.md",
      path, path));
}

GraderFault cannot_start(const std::string& program, const std::string& why) {
  return GraderFault(
      fmt::format("{} could not be started: {}.\n./gradlab setup puts in place what is missing.",
                  program, why));
}

GraderFault build_failed(const std::string& what, const std::string& output) {
  return GraderFault(
      fmt::format("the grader itself does not build ({}). This is no fault of a hand-in.\n{}"
                  "Mend the file named above, or fetch the files again with git.",
                  what, output));
}

GraderFault not_written(const std::string& path, const std::string& why) {
  return GraderFault(fmt::format(
      "{} could not be written: {}.\nMake room, or give yourself the right to write there.", path,
      why));
}

GraderFault low_limit(const std::string& what, const std::string& option, unsigned long is,
                      const std::string& needed) {
  return GraderFault(
      fmt::format("this shell limits {} (ulimit {} {}), which a hand-in would be blamed for. Start "
                  "from a shell with: ulimit {} {}. Nothing was graded.",
                  what, option, is, option, needed));
}

GraderFault missing_part(const std::string& path, const std::string& verb) {
  return GraderFault(fmt::format(
      "{} is not here, so ./gradlab {} cannot run. Fetch the files again with git.", path, verb));
}

std::string building(const std::string& what, bool first) {
  return first ? fmt::format("building {} (first use, about 1 minute)", what)
               : fmt::format("building {} again (its files changed)", what);
}

std::string looking_again() { return "files came or went: configuring the build again"; }

std::string state_set_aside(const std::string& path, const std::string& kept) {
  return fmt::format("{} is damaged. It is kept as {}, and a new one begun.", path, kept);
}

std::string state_not_kept(const std::string& path) {
  return fmt::format("{} could not be written: the next call shows this hint again.", path);
}

}  // namespace gradlab::cli::messages
