// Random numbers that are the same everywhere for one seed: no distribution of the standard
// library, which each implementation draws in its own way.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace gradlab::drills {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();  // splitmix64
  // REQUIRES: least <= most. Both can come.
  std::int64_t whole(std::int64_t least, std::int64_t most);
  bool coin() { return whole(0, 1) == 1; }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(whole(0, static_cast<std::int64_t>(from.size()) - 1))];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1],
                items[static_cast<std::size_t>(whole(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

 private:
  std::uint64_t state_;
};

// One seed for each name, so that a new template changes no other's questions.
std::uint64_t seed_of(std::uint64_t seed, std::string_view name, std::uint64_t number = 0);

}  // namespace gradlab::drills
