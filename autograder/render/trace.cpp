#include "render/trace.hpp"

#include <algorithm>

namespace gradlab::render {
namespace {

using Calls = std::vector<std::string>;

constexpr std::ptrdiff_t kBefore = 3;  // rows shown before the first difference
constexpr std::ptrdiff_t kAfter = 6;   // and from it on
constexpr std::size_t kMostCalls = 400;

Calls calls_of(const nlohmann::json& trace, const char* side) {
  Calls calls;
  const auto list = trace.find(side);
  if (list == trace.end() || !list->is_array()) return calls;
  for (const auto& call : *list) {
    if (call.is_string() && calls.size() < kMostCalls) calls.push_back(call.get<std::string>());
  }
  return calls;
}

// lengths[i][j]: of the longest common sequence of got from i on and expected from j on.
std::vector<std::vector<int>> common_lengths(const Calls& got, const Calls& expected) {
  std::vector<std::vector<int>> lengths(got.size() + 1, std::vector<int>(expected.size() + 1));
  for (std::size_t i = got.size(); i-- > 0;) {
    for (std::size_t j = expected.size(); j-- > 0;) {
      lengths[i][j] = got[i] == expected[j] ? 1 + lengths[i + 1][j + 1]
                                            : std::max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

std::vector<TraceRow> aligned(const Calls& got, const Calls& expected) {
  const auto lengths = common_lengths(got, expected);
  std::vector<TraceRow> rows;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < got.size() || j < expected.size()) {
    const bool both = i < got.size() && j < expected.size();
    if (both && got[i] == expected[j]) {
      rows.push_back({got[i++], expected[j++]});
    } else if (j == expected.size() || (both && lengths[i + 1][j] >= lengths[i][j + 1])) {
      rows.push_back({got[i++], ""});
    } else {
      rows.push_back({"", expected[j++]});
    }
  }
  return rows;
}

}  // namespace

Trace trace_of(const record::Failing& failing) {
  if (!failing.input.is_object()) return {};
  const auto recorded = failing.input.find("trace");
  if (recorded == failing.input.end() || !recorded->is_object()) return {};
  auto rows = aligned(calls_of(*recorded, "got"), calls_of(*recorded, "expected"));
  const auto first =
      std::find_if(rows.begin(), rows.end(), [](const TraceRow& row) { return !row.same(); });
  if (first == rows.end()) return {};
  const auto begin = first - std::min(kBefore, first - rows.begin());
  const auto end = first + std::min(kAfter, rows.end() - first);
  return {{begin, end}, begin != rows.begin(), end != rows.end()};
}

}  // namespace gradlab::render
