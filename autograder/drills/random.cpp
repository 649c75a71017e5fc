#include "drills/random.hpp"

namespace gradlab::drills {

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::int64_t Random::whole(std::int64_t least, std::int64_t most) {
  const auto count = static_cast<std::uint64_t>(most - least) + 1;
  return least + static_cast<std::int64_t>(next() % count);
}

std::uint64_t seed_of(std::uint64_t seed, std::string_view name, std::uint64_t number) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  Random mixed(hash ^ Random(seed).next() ^ Random(~number).next());
  return mixed.next();
}

}  // namespace gradlab::drills
