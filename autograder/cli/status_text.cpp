#include "cli/status_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/words.hpp"
#include "render/page.hpp"
#include "render/terminal.hpp"

namespace gradlab::cli {
namespace {

using render::Data;

// "1 h 20 min", "35 min".
std::string in_words(double minutes) {
  const auto whole = std::lround(minutes);
  return whole < 60 ? fmt::format("{} min", whole)
                    : fmt::format("{} h {} min", whole / 60, whole % 60);
}

std::string time_text(const UnitStatus& status) {
  return fmt::format("{} on the labs, of {} that the unit is made for", in_words(status.minutes),
                     in_words(kUnitMinutes));
}

std::string memory_text(const UnitStatus& status) {
  std::string text;
  for (const auto& each : status.from_memory) {
    text += fmt::format("{}{} {} of {} in {}", text.empty() ? "from memory: " : "; ", each.lab,
                        each.score, each.max_score, in_words(each.minutes));
  }
  return text.empty() ? "nothing written from memory yet: ./gradlab closed-book clipping" : text;
}

std::string drills_text(const UnitStatus& status) {
  return fmt::format("{} of {} drills seen, {} due", status.drills_seen, status.drills_of,
                     status.drills_due);
}

std::string stands(const LabStatus& lab) {
  if (!lab.started) return "not started";
  if (!lab.score) return "started";
  return fmt::format("{} of {}{}", *lab.score, lab.max_score, lab.changed ? ", changed since" : "");
}

std::string headline(const UnitStatus& status) {
  size_t met = 0;
  for (const auto& each : status.criteria) met += each.met ? 1 : 0;
  return status.complete()
             ? "Complete: all that the unit asks for is met."
             : fmt::format("{} of {} that the unit asks for.", met, status.criteria.size());
}

}  // namespace

std::string status_text(const UnitStatus& status, int width) {
  std::string text = headline(status) + "\n\n";
  const auto put = [&](const std::string& line) {
    bool first = true;
    for (const auto& each : render::wrapped(line, width - 8)) {
      text += (first ? "  " : "        ") + each + "\n";
      first = false;
    }
  };
  for (const auto& each : status.criteria) {
    put(fmt::format("{}  {}: {}", each.met ? "done" : "open", each.asks, each.stands));
  }
  text += "\n";
  for (const auto& lab : status.labs) {
    const auto spent = lab.minutes > 0 ? ", " + in_words(lab.minutes) : "";
    put(fmt::format("{}  {}{}", padded(lab.slug, 12), stands(lab), spent));
  }
  text += "\n";
  put(memory_text(status));
  put(drills_text(status));
  put(time_text(status));
  if (const auto next = status.next(); !next.empty()) text += "\nNext: " + next + "\n";
  return text;
}

std::string status_page(const UnitStatus& status, const std::filesystem::path& root,
                        const std::string& name) {
  render::Template page(root / "autograder/cli/templates", "status.html");
  Data data, criteria(Data::type::list), labs(Data::type::list), logs(Data::type::list),
      beside(Data::type::list);
  for (const auto& each : status.criteria) {
    Data row;
    row.set("word", Data(each.met ? "met" : "open"));
    row.set("asks", render::text(each.asks));
    row.set("stands", render::text(each.stands));
    criteria << row;
  }
  for (const auto& lab : status.labs) {
    Data row;
    row.set("lab", render::text(lab.slug));
    row.set("stands", render::text(stands(lab)));
    row.set("minutes",
            Data(fmt::format("{} of {}", std::lround(lab.minutes), lab.planned_minutes)));
    row.set("sha256", Data(lab.sha256.empty() ? "-" : lab.sha256));
    labs << row;
  }
  for (const auto& log : status.logs) {
    Data row;
    row.set("file", render::text(log.file));
    row.set("stands", Data(fmt::format("{} of {} skips", log.explained, log.skips)));
    row.set("sha256", Data(log.sha256));
    logs << row;
  }
  beside << render::text(memory_text(status)) << render::text(drills_text(status))
         << render::text(time_text(status));
  data.set("title", render::text(name.empty() ? "Unit status" : name));
  data.set("lead", render::text(headline(status)));
  data.set("style", Data(render::read_asset(root / "autograder/render/templates/style.css")));
  data.set("criteria", criteria);
  data.set("labs", labs);
  data.set("logs", logs);
  data.set("beside", beside);
  return page.render(data);
}

}  // namespace gradlab::cli
