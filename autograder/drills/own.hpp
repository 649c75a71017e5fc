// Drills that somebody wrote: drills.toml of a lab, or one's own. The format: handouts/drills.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "drills/templates.hpp"

namespace gradlab::drills {

// `origin` is the file as messages name it, `prefix` what the names begin with ("own"), `topic`
// that of drills that name none. Throws manifest::ManifestError with file, line and remedy.
std::vector<Template> read_drills(const std::filesystem::path& file, const std::string& origin,
                                  const std::string& prefix, const std::string& topic);

}  // namespace gradlab::drills
