// Just enough JSON for a scaler's state: the numbers of one object. The text may be hostile.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gradlab::amp {

struct JsonValue {
  bool is_number = false;
  double number = 0;
  std::string in_words;  // what it is, for a message
};

// Every key of the object, nested values passed over. "inf" and "-inf" count as numbers.
// THROWS Error kBadState where the text is no JSON object, is cut short, or nests too deep.
std::map<std::string, JsonValue> json_object(std::string_view text);

// The shortest digits that read back as `value`; "inf" in quotes.
std::string json_number(double value);

}  // namespace gradlab::amp
