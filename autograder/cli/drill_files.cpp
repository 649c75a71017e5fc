#include "cli/drill_files.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>

#include "cli/drill_messages.hpp"
#include "cli/files.hpp"
#include "cli/messages.hpp"
#include "drills/own.hpp"
#include "record/store.hpp"
#include "render/terminal.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

fs::path own_folder(const Workspace& workspace) { return workspace.root() / ".gradlab" / "drills"; }

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void add(std::vector<drills::Template>& all, const Workspace& workspace, const fs::path& file,
         const std::string& prefix, const std::string& topic) {
  try {
    for (auto& each : drills::read_drills(file, workspace.shown(file), prefix, topic)) {
      all.push_back(std::move(each));
    }
  } catch (const manifest::ManifestError& error) {
    note(messages::own_drills_left_out(error.what()));
  }
}

}  // namespace

drills::Day today() {
  if (const char* word = getenv("GRADLAB_TODAY"); word != nullptr && *word != '\0') {
    const auto day = drills::day_of(word);
    if (!day) throw messages::bad_today(word);
    return *day;
  }
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  const auto day = drills::day_of(
      fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday));
  return day.value_or(0);
}

std::vector<drills::Template> all_drills(const Workspace& workspace) {
  auto all = drills::built_in_templates();
  for (const auto& slug : workspace.slugs()) {
    const auto file = workspace.root() / "labs" / slug / "drills.toml";
    if (fs::exists(file)) add(all, workspace, file, slug, slug);
  }
  for (const auto& file : files_in(own_folder(workspace))) {
    add(all, workspace, file, "own." + render::printable(file.stem().string()), "own");
  }
  return all;
}

std::size_t import_drills(const Workspace& workspace, const fs::path& file) {
  const auto folder = own_folder(workspace);
  const auto kept = folder / (file.stem().string() + ".toml");
  std::error_code same;
  if (fs::equivalent(file, kept, same)) throw messages::own_drills_taken(file.string());
  try {
    const auto drills = drills::read_drills(file, file.string(), "own", "own");
    fs::create_directories(folder);
    record::write_file(kept, read_whole(file));
    return drills.size();
  } catch (const manifest::ManifestError& error) {
    throw UsageError(error.what());
  } catch (const record::RecordError& error) {
    throw messages::progress_not_kept(workspace.shown(kept), error.what());
  } catch (const fs::filesystem_error& error) {
    throw messages::progress_not_kept(workspace.shown(kept), error.code().message());
  }
}

DrillProgress::DrillProgress(const Workspace& workspace)
    : file_(workspace.state_dir() / "drills.json"), day_(today()) {}

DrillProgress DrillProgress::to_write(const Workspace& workspace) {
  DrillProgress progress(workspace);
  const auto lock = workspace.state_dir() / "drills.lock";
  try {
    auto taken = drills::Lock::take(lock);
    if (!taken) throw messages::drill_is_running();
    progress.lock_.emplace(std::move(*taken));
    if (const auto fault = progress.read(); fault != drills::Fault::kNone) {
      progress.keep_aside(fault, workspace);
    }
    if (progress.mended_) progress.write();
  } catch (const fs::filesystem_error& error) {
    throw messages::not_written(workspace.shown(error.path1()), error.code().message());
  }
  return progress;
}

DrillProgress DrillProgress::to_read(const Workspace& workspace) {
  DrillProgress progress(workspace);
  if (progress.read() != drills::Fault::kNone) {
    cli::note(messages::progress_not_readable(workspace.shown(progress.file_)));
  }
  return progress;
}

drills::Fault DrillProgress::read() {
  if (!fs::exists(file_)) return drills::Fault::kNone;
  if (!fs::is_regular_file(file_)) return drills::Fault::kDamaged;
  auto found = drills::read_progress(read_whole(file_), day_);
  progress_ = std::move(found.progress);
  mended_ = found.mended;
  return found.fault;
}

void DrillProgress::keep_aside(drills::Fault fault, const Workspace& workspace) {
  const auto path = workspace.shown(file_), kept = workspace.shown(move_to_backup(file_));
  cli::note(fault == drills::Fault::kNewer ? messages::progress_is_newer(path, kept)
                                           : messages::progress_is_damaged(path, kept));
}

void DrillProgress::note(const std::string& name, int grade, const std::string& mistake) {
  drills::review(progress_.items[name], grade, day_);
  if (!mistake.empty()) ++progress_.mistakes[mistake];
  write();
}

void DrillProgress::write() const {
  try {
    record::write_file(file_, drills::to_json(progress_));
  } catch (const record::RecordError& error) {
    throw messages::progress_not_kept(file_.string(), error.what());
  }
}

}  // namespace gradlab::cli
