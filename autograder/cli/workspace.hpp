// Where things lie, and which lab a word means. Reads as little as it can: a lab's lab.toml only
// when that lab is asked for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manifest/manifest.hpp"

namespace gradlab::cli {

class Workspace {
 public:
  // GRADLAB_ROOT, which the launcher sets; else the folder, here or above, that holds labs/ and
  // gradlab. Throws UsageError when there is none. Looked for once.
  const std::filesystem::path& root() const;

  std::filesystem::path work_file(const std::string& slug) const;    // work/<slug>.cpp
  std::filesystem::path skeleton(const std::string& slug) const;     // labs/<slug>/<slug>.cpp
  std::filesystem::path contract(const std::string& slug) const;     // labs/<slug>/<slug>.hpp
  std::filesystem::path handout(const std::string& slug) const;      // handouts/<slug>.md
  std::filesystem::path reference(const std::string& slug) const;    // reference/<slug>/answer.cpp
  std::filesystem::path last_record(const std::string& slug) const;  // .gradlab/last/<slug>.json
  std::filesystem::path state_dir() const;  // .gradlab; made when it is not there
  std::filesystem::path build_dir() const;  // build/release
  std::filesystem::path program(const std::string& name) const;  // build/release/bin/<name>

  // As messages show a path: from the root where it lies under it, else whole.
  std::string shown(const std::filesystem::path& path) const;

  std::vector<std::string> slugs() const;  // of labs/*/lab.toml, by name
  std::vector<Manifest> labs() const;      // all, by order; throws ManifestError

  // An exact slug, else the one slug that begins with the word. Throws UsageError: two labs match,
  // or none.
  std::string find_slug(const std::string& word) const;
  Manifest find_lab(const std::string& word) const;
  // "clipping.2": a lab and one of its tasks. Throws UsageError.
  std::pair<Manifest, int> find_task(const std::string& word) const;
  // The lab whose work/<slug>.cpp changed last. Throws UsageError when no lab was started.
  std::string last_changed_lab() const;
  // find_lab(word), or the last changed lab where the word is empty.
  Manifest lab_or_last_changed(const std::string& word) const;

 private:
  mutable std::filesystem::path root_;
};

}  // namespace gradlab::cli
