// Times several sides turn by turn.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using Json = nlohmann::ordered_json;
using Side = std::pair<std::string, std::function<void()>>;

// Every side in turn, `rounds` times, so that a busy machine slows all of them; microseconds a
// call, best and median. With one thread the CPU's clock too, which a busy machine hardly changes.
Json compare(const std::vector<Side>& sides, int repeats, int rounds);

// How much longer `slow` took than `fast`, by the CPU's clock where there is one.
Json ratio(const Json& sides, const char* slow, const char* fast);

}  // namespace bench
