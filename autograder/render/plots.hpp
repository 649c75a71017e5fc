// The plots of the index page: for each the sentence it shows, its table, and the numbers for
// plots.js.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "render/class_summary.hpp"
#include "render/page.hpp"

namespace gradlab::render {

struct Plots {
  Data sections{Data::type::list};
  nlohmann::ordered_json numbers = nlohmann::ordered_json::object();
};

Plots plots_of(const ClassSummary& summary, const std::string& lab);

Data links_to(const std::vector<std::string>& students);  // {href, student} each, from the index

// JSON that may stand inside <script>: no "<", ">" or "&" in it, ASCII only.
std::string script_json(const nlohmann::ordered_json& json);

}  // namespace gradlab::render
