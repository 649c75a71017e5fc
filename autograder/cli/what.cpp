// ./gradlab what: a word or an error message in one paragraph, and where to read on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/glossary.hpp"
#include "cli/messages.hpp"
#include "cli/words.hpp"

namespace gradlab::cli {
namespace {

void list_words(const Glossary& glossary, int width) {
  for (const auto& group : glossary.groups()) {
    std::string names;
    for (const auto& entry : group.entries) {
      names += (names.empty() ? "" : ", ") + entry.names.front();
    }
    print(group.title + "\n" + wrapped(names, width, 2));
  }
  print("\nOne of them: ./gradlab what growth tracker. A whole message can be pasted.\n");
}

void what(const std::vector<std::string>& words, const Session& session) {
  const Glossary glossary(session.workspace.root() / "autograder/cli/texts/what.toml");
  const int width = std::min(session.options.width, 80);
  if (words.empty()) return list_words(glossary, width);
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  const auto* entry = glossary.find(text);
  if (entry == nullptr) throw messages::unknown_word(text, nearest(text, glossary.names()));
  print(fmt::format("{}\n{}{}", entry->names.front(), wrapped(entry->says, width, 2),
                    wrapped("read: " + entry->read, width, 2)));
}

}  // namespace

void add_what(CLI::App& app, Session& session) {
  auto& verb = add_verb(app, {"what", kForStudents, "A word or an error message in one paragraph",
                              "./gradlab what growth tracker\n  ./gradlab what time_limit"});
  auto words = std::make_shared<std::vector<std::string>>();
  verb.add_option("WORD", *words, "a word, several, or a pasted message; without: all of them")
      ->type_name("");
  verb.callback([&session, words] { what(*words, session); });
}

}  // namespace gradlab::cli
