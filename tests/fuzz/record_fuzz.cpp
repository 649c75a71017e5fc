// A record that somebody gives to replay: refused by RecordError, or read, and then written and
// read again with the same outcome.
#include <cstdlib>

#include "record/record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gradlab;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = record::to_text(record::parse(text, "fuzz"));
    const std::string twice = record::to_text(record::parse(once, "again"));
    if (once != twice) std::abort();
  } catch (const RecordError&) {
  }
  return 0;
}
