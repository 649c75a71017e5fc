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
  std::string extra;
  std::vector<std::string> students;
};

struct Plot {
  std::string id, heading, says, row_name, count_name, extra_name;
  bool lying = false;       // bars from left to right, for long labels
  bool bad = false;         // in the colour of failure
  bool keep_table = false;  // the table says more than the plot
  std::vector<Row> rows;
};

Data row_data(const Row& row) {
  Data data;
  data.set("name", text(row.label));
  data.set("count", Data(std::to_string(row.count)));
  data.set("has_extra", Data(!row.extra.empty() || !row.students.empty()));
  data.set("extra", text(row.extra));
  Data links(Data::type::list);
  for (const std::string& student : row.students) {
    Data link;
    link.set("href", Data("students/" + page_link(student)));
    link.set("student", text(student));
    links << link;
  }
  data.set("links", links);
  return data;
}

void add(Plots& plots, const Plot& plot) {
  if (plot.rows.empty()) return;
  Data data;
  data.set("id", Data(plot.id));
  data.set("heading", Data(plot.heading));
  data.set("says", text(plot.says));
  const std::size_t bars = plot.rows.size();
  data.set("size", Data(!plot.lying || (bars > 2 && bars <= 6) ? ""
                        : bars <= 2                            ? "short"
                                                               : "tall"));
  data.set("row_name", Data(plot.row_name));
  data.set("count_name", Data(plot.count_name));
  data.set("extra_name", text_or_none(plot.extra_name));
  Data rows(Data::type::list);
  nlohmann::ordered_json numbers = {{"lying", plot.lying},
                                    {"bad", plot.bad},
                                    {"keep_table", plot.keep_table},
                                    {"row_name", plot.row_name},
                                    {"count_name", plot.count_name},
                                    {"labels", nlohmann::ordered_json::array()},
                                    {"counts", nlohmann::ordered_json::array()}};
  for (const Row& row : plot.rows) {
    numbers["labels"].push_back(printable(row.label));
    numbers["counts"].push_back(row.count);
    if (row.count > 0) rows << row_data(row);
  }
  data.set("rows", rows);
  plots.sections << data;
  plots.numbers[plot.id] = numbers;
}

Plot scores(const ClassSummary& summary) {
  Plot plot{"scores", "Scores", "", "Score", "Hand-ins", "", false, false, false, {}};
  const int width = (summary.max_score + kMostBins) / kMostBins;  // 1 up to 24 points
  for (int low = 0; low <= summary.max_score; low += width) {
    const int high = std::min(low + width - 1, summary.max_score);
    Row row{low == high ? std::to_string(low) : fmt::format("{}-{}", low, high), 0, "", {}};
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
  Plot plot{"failed", "What failed most", "", "Check", "Hand-ins", "", true, true, false, {}};
  for (const FailedCheck& check : summary.failed) {
    if (plot.rows.size() == kMostBars) break;
    plot.rows.push_back(
        {fmt::format("{}.{} {}", lab, check.task, check.title), check.failed, "", {}});
  }
  if (!summary.failed.empty()) {
    const FailedCheck& most = summary.failed.front();
    plot.says = fmt::format("Most often: {}, in {} of {} hand-ins.", most.title, most.failed,
                            summary.graded);
  }
  return plot;
}

Plot misconceptions(const ClassSummary& summary) {
  Plot plot{"misconceptions",
            "Misconceptions met",
            "",
            "Behaves like",
            "Hand-ins",
            "Who, and what to ask",
            true,
            false,
            true,
            {}};
  for (const Misconception& met : summary.misconceptions) {
    if (plot.rows.size() == kMostBars) break;
    plot.rows.push_back(
        {met.belief, static_cast<int>(met.students.size()), met.hint, met.students});
  }
  plot.says =
      "A hand-in is counted where a known mistake reproduces everything that was seen of it.";
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
