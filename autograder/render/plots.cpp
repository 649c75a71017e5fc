#include "render/plots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "render/terminal.hpp"

namespace gradlab::render {
namespace {

constexpr int kMostBins = 25;
constexpr std::size_t kMostBars = 12;

struct Row {
  std::string label;
  int count = 0;
  const Misconception* met = nullptr;
};

struct Plot {
  std::string id, heading, says, row_name;
  const char* colour;  // a variable of style.css
  bool lying = false;  // bars from left to right, for long labels
  std::vector<Row> rows;
};

Data row_data(const Row& row) {
  Data data;
  data.set("name", text(row.label));
  data.set("count", Data(std::to_string(row.count)));
  if (row.met != nullptr) {
    data.set("belief", text(row.met->belief));
    data.set("ask", text(row.met->hint));
    data.set("links", links_to(row.met->students));
  }
  return data;
}

void add(Plots& plots, const Plot& plot) {
  if (plot.rows.empty()) return;
  Data rows(Data::type::list);
  nlohmann::ordered_json numbers = {{"lying", plot.lying},
                                    {"colour", plot.colour},
                                    {"row_name", plot.row_name},
                                    {"labels", nlohmann::ordered_json::array()},
                                    {"counts", nlohmann::ordered_json::array()}};
  for (const Row& row : plot.rows) {
    if (row.count > 0) rows << row_data(row);
    if (plot.lying && numbers["counts"].size() == kMostBars) continue;
    numbers["labels"].push_back(printable(row.label));
    numbers["counts"].push_back(row.count);
  }
  Data table;
  table.set("row_name", Data(plot.row_name));
  table.set("rows", rows);
  const bool beliefs = plot.rows.front().met != nullptr;
  Data data;
  data.set("id", Data(plot.id));
  data.set("heading", Data(plot.heading));
  data.set("says", text(plot.says));
  const bool cut = plot.lying && plot.rows.size() > kMostBars;
  data.set("of_all", cut ? Data(fmt::format("The first {} of {}.", kMostBars, plot.rows.size()))
                         : Data(false));
  data.set("counts", beliefs ? Data(false) : table);
  data.set("beliefs", beliefs ? table : Data(false));
  plots.sections << data;
  plots.numbers[plot.id] = numbers;
}

Plot scores(const ClassSummary& summary) {
  Plot plot{"scores", "Scores", "", "Score", "--part", false, {}};
  const int width = (summary.max_score + kMostBins) / kMostBins;  // 1 up to 24 points
  for (int low = 0; low <= summary.max_score; low += width) {
    const int high = std::min(low + width - 1, summary.max_score);
    Row row{low == high ? std::to_string(low) : fmt::format("{}-{}", low, high)};
    for (int score = low; score <= high; ++score) {
      row.count += summary.scores[static_cast<std::size_t>(score)];
    }
    plot.rows.push_back(row);
  }
  plot.says = fmt::format("{} of {} hand-ins have full marks.", summary.full_marks, summary.graded);
  if (summary.median && summary.mean) {
    plot.says += fmt::format(" Median {}, mean {} of {} points.", number_text(*summary.median),
                             number_text(*summary.mean), summary.max_score);
  }
  return plot;
}

Plot failed(const ClassSummary& summary, const std::string& lab) {
  Plot plot{"failed", "What failed most", "", "Check", "--bad-fill", true, {}};
  for (const FailedCheck& check : summary.failed) {
    plot.rows.push_back({fmt::format("{}.{} {}", lab, check.task, check.title), check.failed});
  }
  plot.says = "Hand-ins that came to the check and did not pass it.";
  return plot;
}

Plot misconceptions(const ClassSummary& summary) {
  Plot plot{"misconceptions", "Misconceptions met", "", "Behaves like", "--belief", true, {}};
  for (const Misconception& met : summary.misconceptions) {
    plot.rows.push_back({met.name, static_cast<int>(met.students.size()), &met});
  }
  plot.says =
      "A hand-in counts where a known mistake reproduces everything that was seen of a failed "
      "check.";
  return plot;
}

}  // namespace

Plots plots_of(const ClassSummary& summary, const std::string& lab) {
  Plots plots;
  add(plots, scores(summary));
  add(plots, failed(summary, lab));
  add(plots, misconceptions(summary));
  return plots;
}

Data links_to(const std::vector<std::string>& students) {
  Data links(Data::type::list);
  for (const std::string& student : students) {
    Data link;
    link.set("href", Data("students/" + page_link(student)));
    link.set("student", text(student));
    links << link;
  }
  return links;
}

std::string script_json(const nlohmann::ordered_json& json) {
  const std::string plain = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string safe;
  for (const char c : plain) {
    if (c == '<' || c == '>' || c == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace gradlab::render
