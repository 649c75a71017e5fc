#include "record/fields.hpp"

#include <fmt/format.h>

#include <limits>

namespace gradlab::record {
namespace {

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

std::string words(JsonReader& in, const char* key, Form form) {
  if (form == Form::kStored) return in.text(key);
  if (!in.has(key) || in.any(key).is_null()) return "";
  if (in.any(key).is_string()) return in.text(key);
  if (const auto number = in.number_or_null(key)) return fmt::format("{}", *number);
  return "";
}

std::optional<double> number(JsonReader& in, const char* key, Form form) {
  if (form == Form::kEvent && !in.has(key)) return std::nullopt;
  return in.number_or_null(key);
}

}  // namespace

Failing read_failing(JsonReader& in, Form form) {
  const bool stored = form == Form::kStored;
  Failing failing;
  if (stored || in.has("case")) failing.input = in.any("case");
  failing.place = words(in, "place", form);
  failing.expected = words(in, "expected", form);
  failing.got = words(in, "got", form);
  failing.off_by = number(in, "off_by", form);
  failing.allowed = number(in, "allowed", form);
  if (failing.allowed && !(*failing.allowed >= 0)) in.refuse("allowed", "0 or more");
  if (stored || in.has("differing")) {
    if (auto differing = in.object_or_null("differing")) {
      failing.differing.emplace();
      failing.differing->of = differing->whole("of", 1, kMost);
      failing.differing->count = differing->whole("count", 1, failing.differing->of);
      if (stored) differing->finish();
    }
  }
  if (stored) in.finish();
  return failing;
}

nlohmann::ordered_json failing_to_json(const Failing& failing) {
  const auto number = [](const std::optional<double>& value) {
    return value ? number_to_json(*value) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json out;
  out["case"] = failing.input;
  out["place"] = failing.place;
  out["expected"] = failing.expected;
  out["got"] = failing.got;
  out["off_by"] = number(failing.off_by);
  out["allowed"] = number(failing.allowed);
  out["differing"] = nullptr;
  if (failing.differing) {
    out["differing"] = {{"count", failing.differing->count}, {"of", failing.differing->of}};
  }
  return out;
}

}  // namespace gradlab::record
