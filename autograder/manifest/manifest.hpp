// labs/<slug>/lab.toml as data: tasks, checks with points, hints, hand-in files, limits. Every key
// is checked, an unknown one too, because a misspelt key would silently change a grade. No LibTorch
// here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::manifest {

struct Check {
  std::string name;   // lower_snake: the property it holds
  std::string title;  // for people; the name with spaces unless lab.toml says otherwise
  int points = 0;     // > 0, all or nothing
  bool guard = false;
  std::string needs;    // of a guard: the earning check, of the same lab, that it waits for
  bool regime = false;  // what its task is about; doctor wants a third of the points on such checks
};

struct Task {
  int id = 0;  // > 0; `clipping.2`
  std::string title;
  bool core = false;
  std::vector<std::string> hints;
  std::vector<Check> checks;

  int max_points() const;
};

struct Limits {
  double compile_cpu_seconds = 20;
  std::int64_t compile_memory_mib = 1536;
  std::int64_t compile_log_kib = 64;
  double case_cpu_seconds = 2;
  double hand_in_seconds = 30;
  std::int64_t memory_mib = 2048;
  std::int64_t output_kib = 64;
  std::int64_t processes = 32;
  std::int64_t source_kib = 256;
};

struct Manifest {
  std::string slug;  // the folder's name
  std::string title;
  int order = 0;
  int minutes = 0;
  std::vector<std::string> hand_in;      // plain file names, at least one
  std::vector<std::string> libraries;    // of ours, that a hand-in may use: reference/<name>
  std::vector<std::string> precompiled;  // headers, as after #include
  bool optimised = true;  // hand-ins are compiled with -O1; without, a verdict comes sooner
  std::vector<std::string> forbidden_headers;
  std::vector<std::string> forbidden_names;
  Limits limits;
  std::vector<Task> tasks;          // ascending id
  std::filesystem::path directory;  // labs/<slug>

  int max_points() const;
  const Task* task(int id) const;                     // null when there is none
  const Check* check(std::string_view name) const;    // null when there is none
  const Task* task_of(std::string_view check) const;  // null when there is none
};

enum class ManifestErrorKind { kNoFile, kSyntax, kUnknownKey, kMissingKey, kBadValue };

// what() reads "labs/x/lab.toml:12: key 'points': must be …, was …; …".
class ManifestError : public std::runtime_error {
 public:
  ManifestError(ManifestErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  ManifestErrorKind kind() const { return kind_; }

 private:
  ManifestErrorKind kind_;
};

// Reads one lab.toml. Messages name the file as <parent of the lab's folder>/<slug>/lab.toml.
Manifest read_manifest(const std::filesystem::path& lab_toml);

// Reads root/labs/*/lab.toml, by order and then slug. REQUIRES: slugs are folder names.
// Throws ManifestError for the first lab that is broken.
std::vector<Manifest> read_manifests(const std::filesystem::path& root);

}  // namespace gradlab::manifest

namespace gradlab {
using manifest::Manifest;
using manifest::ManifestError;
}  // namespace gradlab
