// Events, findings and lines of JSON in words, so that an answer and what was expected can be read
// side by side.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "event_log.hpp"

namespace gradlab::event_log_runs {

// "step 3: skipped_step, info; step 5: exploding, warning", or "none".
class EventWords {
 public:
  void add(int64_t step, const std::optional<event_log::Event>& event);
  std::string text() const { return text_.empty() ? "none" : text_; }

 private:
  std::string text_;
};

// "step 3, 2 records: bad batch, look at the batch; …", or "none".
std::string in_words(const std::vector<event_log::Finding>& findings);

// A line read by a strict parser.
struct ParsedLine {
  nlohmann::json object;  // empty where the line is none
  std::string in_words;   // "a JSON object", or where a strict parser stops
};
ParsedLine parsed(const std::string& line);

// A value of a JSON object: a number as the double that it is, "missing" where there is none.
// Unknown scales may be null or missing.
std::string field_in_words(const nlohmann::json& object, const std::string& name);

}  // namespace gradlab::event_log_runs
