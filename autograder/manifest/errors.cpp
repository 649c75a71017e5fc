#include "manifest/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gradlab::manifest::errors {
namespace {

// Levenshtein distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string remedy(std::string_view key, const std::vector<std::string>& known) {
  for (const std::string& word : known) {
    if (is_near(key, word)) return fmt::format("did you mean '{}'?", word);
  }
  return fmt::format("known: {}", fmt::join(known, ", "));
}

}  // namespace

ManifestError no_file(std::string_view at, std::string_view why) {
  return {ManifestErrorKind::kNoFile,
          fmt::format("{}: cannot be read ({}); a lab is a folder with a lab.toml, ./gradlab new "
                      "SLUG writes one",
                      at, why)};
}

ManifestError no_drills(std::string_view at, std::string_view why) {
  return {ManifestErrorKind::kNoFile,
          fmt::format("{}: cannot be read ({}); name a file of drills, handouts/drills.md has one",
                      at, why)};
}

ManifestError bad_slug(std::string_view at, std::string_view slug) {
  return {ManifestErrorKind::kBadValue,
          fmt::format("{}: the folder '{}' is no slug; rename it to lower-case letters, digits and "
                      "'_', a letter first",
                      at, slug)};
}

ManifestError syntax(std::string_view at, std::string_view what) {
  return {ManifestErrorKind::kSyntax, fmt::format("{}: is not TOML: {}; mend that line", at, what)};
}

ManifestError unknown_key(std::string_view at, std::string_view key,
                          const std::vector<std::string>& known) {
  return {ManifestErrorKind::kUnknownKey,
          fmt::format("{}: key '{}': is not known here; {}", at, key, remedy(key, known))};
}

bool is_near(std::string_view a, std::string_view b) { return distance(a, b) <= 2; }

ManifestError missing_key(std::string_view at, std::string_view key, std::string_view where,
                          std::string_view example) {
  return {ManifestErrorKind::kMissingKey,
          fmt::format("{}: key '{}': is missing in {}; add {}", at, key, where, example)};
}

ManifestError bad_value(std::string_view at, std::string_view key, std::string_view must,
                        std::string_view was, std::string_view remedy) {
  return {ManifestErrorKind::kBadValue,
          fmt::format("{}: key '{}': must be {}, was {}; {}", at, key, must, was, remedy)};
}

}  // namespace gradlab::manifest::errors
