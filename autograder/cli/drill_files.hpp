// What `drill` keeps in .gradlab: progress in drills.json, imported drills in drills/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "drills/progress.hpp"
#include "drills/templates.hpp"

namespace gradlab::cli {

// The local date. GRADLAB_TODAY=2026-12-05 sets it, for tests only. Throws UsageError.
drills::Day today();

// Of gradlab itself, of labs/*/drills.toml and of imported files. What cannot be read there is told
// and left out.
std::vector<drills::Template> all_drills(const Workspace& workspace);

// Checks the file, then keeps a copy. Returns how many drills it holds. Throws UsageError.
std::size_t import_drills(const Workspace& workspace, const std::filesystem::path& file);

class DrillProgress {
 public:
  // To write: takes the lock, and puts a file that cannot be read aside. Throws UsageError where
  // another drill runs.
  static DrillProgress to_write(const Workspace& workspace);
  // To read alone: moves nothing, waits for nobody.
  static DrillProgress to_read(const Workspace& workspace);

  // Writes at once. Throws GraderFault.
  void note(const std::string& name, int grade, const std::string& mistake);
  const drills::Progress& get() const { return progress_; }
  drills::Day day() const { return day_; }

 private:
  explicit DrillProgress(const Workspace& workspace);
  drills::Fault read();
  void keep_aside(drills::Fault fault, const Workspace& workspace);
  void write() const;

  std::filesystem::path file_;
  drills::Day day_;
  drills::Progress progress_;
  bool mended_ = false;
  std::optional<drills::Lock> lock_;
};

}  // namespace gradlab::cli
