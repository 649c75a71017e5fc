// How far somebody is: for each topic what was seen, right and due, and the next date.
#pragma once

#include <string>
#include <vector>

#include "drills/progress.hpp"
#include "drills/session.hpp"
#include "drills/templates.hpp"

namespace gradlab::drills {

std::string stats_text(const std::vector<Template>& all, const Progress& progress, Day today,
                       int width);

// "3 are due tomorrow", "1 is due on 2026-12-07"; "" where nothing was ever asked.
std::string next_due_text(const std::vector<Template>& all, const Progress& progress, Day today);

// What an exam came to: score by topic, mistakes by name.
std::string exam_text(const Tally& tally, const std::vector<Question>& questions, int width);

}  // namespace gradlab::drills
