#include "cli/doctor_sandbox.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/build.hpp"
#include "render/terminal.hpp"
#include "sandbox/promises.hpp"

namespace gradlab::cli {
namespace {

using sandbox::Isolation;
using sandbox::Kept;

struct Column {
  std::string name;
  std::vector<sandbox::Tried> tried;
};

std::string cell_of(Kept kept) {
  if (kept == Kept::kKept) return "kept";
  return kept == Kept::kBroken ? "BROKEN" : "not promised";
}

std::string painted(Kept kept, int width, const render::Paint& paint) {
  const std::string cell = render::padded(cell_of(kept), width);
  if (kept == Kept::kKept) return paint.good(cell);
  return kept == Kept::kBroken ? paint.bad(cell) : paint.dim(cell);
}

// Those that work here; of the others the reason is said.
std::vector<Column> try_all(const std::string& program) {
  std::vector<Column> columns;
  const auto add = [&](Isolation isolation, const std::string& why_not) {
    const std::string name = sandbox::to_string(isolation);
    if (why_not.empty()) {
      columns.push_back({name, sandbox::try_promises(isolation, program)});
    } else {
      print(fmt::format("{} does not work here: {}\n\n", name, why_not));
    }
  };
  add(Isolation::kFull, sandbox::probe().why_not_full);
  add(Isolation::kContainer, sandbox::probe_container());
  add(Isolation::kNone, "");
  return columns;
}

std::string table(const std::vector<Column>& columns, const render::Paint& paint) {
  constexpr int kWords = 41;
  constexpr int kCell = 12;
  std::string text = render::padded("promise", kWords);
  for (const Column& column : columns) {
    text += " " + render::padded(column.name, &column == &columns.back() ? 0 : kCell);
  }
  text += "\n";
  const auto words = sandbox::promises();
  for (std::size_t row = 0; row < words.size(); ++row) {
    text += render::padded(words[row], kWords);
    for (const Column& column : columns) {
      const int width = &column == &columns.back() ? 0 : kCell;
      text += " " + painted(column.tried[row].kept, width, paint);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

void examine_sandbox(Session& session) {
  const std::string name = "sandbox_trial";
  ensure_target(session.workspace, name, "the sandbox's trials");
  const auto columns = try_all(session.workspace.program(name).string());
  print(table(columns, render::Paint(session.options.colour)));
  for (const Column& column : columns) {
    for (const auto& tried : column.tried) {
      if (tried.kept != Kept::kBroken) continue;
      session.exit_status = kCheckFailed;
      print(fmt::format("BROKEN in {}: {}. The trial: {}\n", column.name, tried.promise,
                        render::printable(tried.why)));
    }
  }
}

}  // namespace gradlab::cli
