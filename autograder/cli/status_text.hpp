// The unit's status as text, and as a page to hand in.
#pragma once

#include <filesystem>
#include <string>

#include "cli/unit_status.hpp"

namespace gradlab::cli {

std::string status_text(const UnitStatus& status, int width);

// `root`: where the templates are. `name`: of the student, "" for none.
std::string status_page(const UnitStatus& status, const std::filesystem::path& root,
                        const std::string& name);

}  // namespace gradlab::cli
