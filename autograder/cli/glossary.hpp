// The words that `what` explains, from autograder/cli/texts/what.toml.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::cli {

struct GlossaryEntry {
  std::vector<std::string> names;  // the first as it is shown
  std::string says;                // a paragraph
  std::string read;                // "handouts/clipping.md, Task 2: clip in place"
};

struct GlossaryGroup {
  std::string title;
  std::vector<GlossaryEntry> entries;
};

class Glossary {
 public:
  // Throws ManifestError.
  explicit Glossary(const std::filesystem::path& file);

  // By name; else the longest name that occurs in the text, as in a pasted message; else nullptr.
  const GlossaryEntry* find(std::string_view text) const;
  const std::vector<GlossaryGroup>& groups() const { return groups_; }
  std::vector<std::string> names() const;  // all

 private:
  std::vector<GlossaryGroup> groups_;
};

// Lower case; what is no letter or digit is one blank.
std::string plain_name(std::string_view text);

}  // namespace gradlab::cli
