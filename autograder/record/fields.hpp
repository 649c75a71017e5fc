// The mismatch of a check, which both a stored record and a judge's event carry.
#pragma once

#include "record/json_reader.hpp"
#include "record/record.hpp"

namespace gradlab::record {

enum class Form {
  kStored,  // every field there, null where it does not apply
  kEvent,   // what does not apply may be missing; `expected` and `got` may be numbers
};

Failing read_failing(JsonReader& in, Form form);
nlohmann::ordered_json failing_to_json(const Failing& failing);

}  // namespace gradlab::record
