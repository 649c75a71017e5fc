// The few ways in which the command writes files of the user's: never over one, never half of one.
#pragma once

#include <filesystem>
#include <string>

namespace gradlab::cli {

// Makes the file, and its folder. False when something has that name already, a broken link too; it
// is left as it is. Throws UsageError when it cannot be written; nothing is left then.
bool write_new_file(const std::filesystem::path& path, const std::string& text);

// The whole file. Throws std::filesystem::filesystem_error.
std::string read_whole(const std::filesystem::path& path);

// Moves it to the first free of path.1, path.2, …; returns that. Throws filesystem_error.
std::filesystem::path move_to_backup(const std::filesystem::path& path);

// Replaces a small file of state at once or not at all. False when that was not possible: state is
// never worth failing for.
bool replace_state(const std::filesystem::path& path, const std::string& text);

}  // namespace gradlab::cli
