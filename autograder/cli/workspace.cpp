#include "cli/workspace.hpp"

#include <stdlib.h>

#include <algorithm>
#include <charconv>

#include "cli/messages.hpp"
#include "manifest/names.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

bool is_root(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "labs", ignored) && fs::exists(folder / "gradlab", ignored);
}

std::string joined_path(const std::string& slug, const char* ending) { return slug + ending; }

}  // namespace

const fs::path& Workspace::root() const {
  if (!root_.empty()) return root_;
  if (const char* named = getenv("GRADLAB_ROOT"); named != nullptr && *named != '\0') {
    if (!fs::is_directory(fs::path(named) / "labs")) throw messages::no_root();
    return root_ = fs::canonical(named);
  }
  for (fs::path at = fs::current_path();; at = at.parent_path()) {
    if (is_root(at)) return root_ = at;
    if (at == at.parent_path()) throw messages::no_root();
  }
}

fs::path Workspace::work_file(const std::string& slug) const {
  return root() / "work" / joined_path(slug, ".cpp");
}
fs::path Workspace::skeleton(const std::string& slug) const {
  return root() / "labs" / slug / joined_path(slug, ".cpp");
}
fs::path Workspace::contract(const std::string& slug) const {
  return root() / "labs" / slug / joined_path(slug, ".hpp");
}
fs::path Workspace::handout(const std::string& slug) const {
  return root() / "handouts" / joined_path(slug, ".md");
}
fs::path Workspace::reference(const std::string& slug) const {
  return root() / "reference" / slug / "answer.cpp";
}
fs::path Workspace::last_record(const std::string& slug) const {
  return root() / ".gradlab" / "last" / joined_path(slug, ".json");
}
fs::path Workspace::build_dir() const { return root() / "build" / "release"; }
fs::path Workspace::program(const std::string& name) const { return build_dir() / "bin" / name; }

fs::path Workspace::state_dir() const {
  const fs::path folder = root() / ".gradlab";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw messages::not_written(folder.string(), error.message());
  return folder;
}

std::string Workspace::shown(const fs::path& path) const {
  const fs::path relative = fs::absolute(path).lexically_normal().lexically_relative(root());
  if (relative.empty() || *relative.begin() == "..") return path.string();
  return relative.string();
}

std::vector<std::string> Workspace::slugs() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(root() / "labs")) {
    if (fs::exists(entry.path() / "lab.toml")) found.push_back(entry.path().filename());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Manifest> Workspace::labs() const { return manifest::read_manifests(root()); }

std::string Workspace::find_slug(const std::string& word) const {
  // The usual case costs one look: no listing of labs/.
  if (manifest::is_snake(word) && fs::exists(root() / "labs" / word / "lab.toml")) return word;
  const auto all = slugs();
  if (all.empty()) throw messages::no_labs(shown(root() / "labs"));
  std::vector<std::string> matches;
  for (const auto& slug : all) {
    if (!word.empty() && slug.starts_with(word)) matches.push_back(slug);
  }
  if (matches.empty()) throw messages::unknown_lab(word, all);
  if (matches.size() > 1) throw messages::two_labs(word, matches);
  return matches.front();
}

Manifest Workspace::find_lab(const std::string& word) const {
  return manifest::read_manifest(root() / "labs" / find_slug(word) / "lab.toml");
}

std::pair<Manifest, int> Workspace::find_task(const std::string& word) const {
  const auto dot = word.find('.');
  if (dot == std::string::npos) {
    // A lab alone: name its first task, so that the mended line is on the screen.
    const auto all = slugs();
    const bool is_lab = std::find(all.begin(), all.end(), word) != all.end();
    throw messages::not_a_task(word, (is_lab || all.empty() ? word : all.front()) + ".1");
  }
  auto lab = find_lab(word.substr(0, dot));
  const std::string number = word.substr(dot + 1);
  int id = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  if (!whole || lab.task(id) == nullptr) {
    std::vector<int> ids;
    for (const auto& task : lab.tasks) ids.push_back(task.id);
    throw messages::unknown_task(lab.slug, number, ids);
  }
  return {std::move(lab), id};
}

std::string Workspace::last_changed_lab() const {
  std::string last;
  fs::file_time_type changed{};
  for (const auto& slug : slugs()) {
    std::error_code missing;
    const auto time = fs::last_write_time(work_file(slug), missing);
    if (missing || (!last.empty() && time <= changed)) continue;
    last = slug;
    changed = time;
  }
  if (!last.empty()) return last;
  const auto all = labs();
  if (all.empty()) throw messages::no_labs(shown(root() / "labs"));
  throw messages::nothing_started(all.front().slug);
}

Manifest Workspace::lab_or_last_changed(const std::string& word) const {
  return find_lab(word.empty() ? last_changed_lab() : word);
}

}  // namespace gradlab::cli
