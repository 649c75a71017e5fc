// A monitor's state: a flat JSON object of numbers.
#include "errors.hpp"
#include "gradlab/amp/error.hpp"
#include "json_line.hpp"
#include "json_object.hpp"
#include "monitor_impl.hpp"

namespace gradlab::monitor {
namespace {

constexpr double kVersion = 1;

}  // namespace

void Monitor::Impl::exchange(Numbers& numbers) {
  numbers.value("steps", steps_);
  numbers.value("checks", checks_);
  numbers.value("skipped_total", skipped_total_);
  Counts::each(journal_.counts, [&](const char* name, int64_t& count) {
    numbers.value(std::string("counts/") + name, count);
  });
  scale_watch_.exchange(numbers);
  rules_->exchange(numbers);
}

std::string Monitor::Impl::state() {
  Numbers numbers;
  exchange(numbers);
  JsonLine line;
  line.add("gradlab_monitor", kVersion).add("plain", plain() ? 1.0 : 0.0);
  for (const auto& [name, value] : numbers.written()) line.add(name, value);
  return line.object();
}

void Monitor::Impl::load_state(const std::string& json) {
  std::map<std::string, amp::JsonValue> read;
  try {
    read = amp::json_object(json);
  } catch (const amp::Error& error) {
    throw errors::bad_state(error.what());
  }
  std::map<std::string, double> values;
  for (const auto& [name, value] : read) {
    if (!value.is_number) throw errors::bad_state("'" + name + "' is " + value.in_words);
    values.emplace(name, value.number);
  }
  const auto is = [&](const char* key, double wanted) {
    const auto found = values.find(key);
    return found != values.end() && found->second == wanted;
  };
  if (!is("gradlab_monitor", kVersion)) throw errors::bad_state("it does not say that it is one");
  if (!is("plain", plain() ? 1 : 0)) throw errors::bad_state("it is of the other rule set");
  Numbers numbers(std::move(values));
  exchange(numbers);
}

}  // namespace gradlab::monitor
