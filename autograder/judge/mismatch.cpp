#include "judge/mismatch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "protocol/singular.hpp"
#include "protocol/tensors.hpp"

namespace gradlab {

std::string Mismatch::place() const {
  std::string text = value;
  for (auto& c : text) c = c == '_' ? ' ' : c;
  if (tensor >= 0) text = fmt::format("{} {}", singular(text), tensor);
  if (!element.empty()) text += fmt::format(", element [{}]", fmt::join(element, ","));
  return text;
}

nlohmann::json Mismatch::where() const {
  nlohmann::json json = {{"value", value}, {"tensor", tensor}, {"element", element}};
  if (expected_number) json["expected"] = protocol::number_to_json(*expected_number);
  if (got_number) json["got"] = protocol::number_to_json(*got_number);
  return json;
}

void Mismatch::write(nlohmann::json& failing) const {
  failing["place"] = place();
  failing["expected"] = expected;
  failing["got"] = got;
  if (off_by) failing["off_by"] = protocol::number_to_json(*off_by);
  if (allowed) failing["allowed"] = protocol::number_to_json(*allowed);
  if (of > 0) failing["differing"] = {{"count", differing}, {"of", of}};
}

std::string shown(double value, torch::ScalarType dtype) {
  if (dtype == torch::kFloat64) return fmt::format("{}", value);
  return fmt::format("{}", static_cast<float>(value));
}

std::pair<std::string, std::string> shown_apart(double expected, double got,
                                                torch::ScalarType dtype) {
  for (int digits = 6; digits < 17; ++digits) {
    const auto with_digits = [digits](double value) {
      return fmt::format("{:.{}g}", value, digits);
    };
    auto texts = std::pair(with_digits(expected), with_digits(got));
    if (texts.first != texts.second) return texts;
  }
  return {shown(expected, dtype), shown(got, dtype)};
}

}  // namespace gradlab
