#include "drills/stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "render/terminal.hpp"

namespace gradlab::drills {
namespace {

struct Row {
  std::string topic;
  std::int64_t templates = 0, seen = 0, right = 0, due = 0;
  std::optional<Day> next = std::nullopt;

  void add(const Item& item, Day today) {
    seen += item.seen;
    right += item.right;
    due += is_due(item, today) ? 1 : 0;
    next = next ? std::min(*next, item.due()) : item.due();
  }
};

std::string day_word(Day day, Day today) {
  if (day <= today) return "today";
  return day == today + 1 ? "tomorrow" : date_of(day);
}

std::string row_text(const Row& row, Day today) {
  return fmt::format("{}  {:>9}  {:>5}  {:>5}  {:>4}  {}\n", render::padded(row.topic, 14),
                     row.templates, row.seen, row.right, row.due,
                     row.next ? day_word(*row.next, today) : "-");
}

}  // namespace

std::string stats_text(const std::vector<Template>& all, const Progress& progress, Day today,
                       int width) {
  std::vector<Row> rows;
  Row sum{"all"};
  for (const auto& each : all) {
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& known) { return known.topic == each.topic; });
    if (row == rows.end()) row = rows.insert(rows.end(), Row{each.topic});
    ++row->templates;
    ++sum.templates;
    const auto item = progress.items.find(each.name);
    if (item == progress.items.end()) continue;
    row->add(item->second, today);
    sum.add(item->second, today);
  }
  std::string out =
      fmt::format("{}  questions   seen  right   due  next\n", render::padded("topic", 14));
  for (const auto& row : rows) out += row_text(row, today);
  out += row_text(sum, today);
  std::vector<std::pair<std::int64_t, std::string>> mistakes;
  for (const auto& [name, count] : progress.mistakes) mistakes.emplace_back(-count, name);
  std::sort(mistakes.begin(), mistakes.end());
  if (mistakes.size() > 5) mistakes.resize(5);
  if (!mistakes.empty()) out += "\nmade most often\n";
  for (const auto& [count, name] : mistakes) {
    const auto lines = render::wrapped(name, width - 7);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out += (i == 0 ? fmt::format("  {:>3}  ", -count) : std::string(7, ' ')) + lines[i] + "\n";
    }
  }
  return out;
}

std::string next_due_text(const std::vector<Template>& all, const Progress& progress, Day today) {
  std::optional<Day> next;
  std::int64_t count = 0;
  for (const auto& each : all) {
    const auto item = progress.items.find(each.name);
    if (item == progress.items.end()) continue;
    const Day due = std::max(item->second.due(), today);
    if (!next || due < *next) {
      next = due;
      count = 0;
    }
    count += due == *next ? 1 : 0;
  }
  if (!next) return "";
  const std::string word = day_word(*next, today);
  return fmt::format("{} {} due {}{}", count, count == 1 ? "is" : "are",
                     *next > today + 1 ? "on " : "", word);
}

std::string exam_text(const Tally& tally, const std::vector<Question>& questions, int width) {
  std::string out = fmt::format("\nexam: {} of {} right", tally.right, questions.size());
  if (const auto open = static_cast<int>(questions.size()) - tally.asked; open > 0) {
    out += fmt::format(", {} not answered", open);
  }
  out += "\n";
  for (const auto& [topic, score] : tally.topics) {
    out += fmt::format("  {}  {:>3} of {}\n", render::padded(topic, 14), score.right, score.of);
  }
  if (!tally.mistakes.empty()) out += "mistakes\n";
  for (const auto& mistake : tally.mistakes) {
    const auto lines = render::wrapped(mistake, width - 4);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out += (i == 0 ? "  " : "    ") + lines[i] + "\n";
  }
  return out;
}

}  // namespace gradlab::drills
