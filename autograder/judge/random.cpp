#include "judge/random.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace gradlab {
namespace {

uint64_t fnv1a(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

uint64_t splitmix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::string_view seed, std::string_view check) {
  uint64_t hash = fnv1a(fnv1a(fnv1a(0xcbf29ce484222325, seed), "/"), check);
  for (auto& word : state_) word = splitmix(hash);
}

uint64_t Random::bits() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform(double low, double high) {
  const double unit = static_cast<double>(bits() >> 11) * 0x1.0p-53;
  return low + unit * (high - low);
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
  return radius * std::cos(2 * std::numbers::pi * uniform(0, 1));
}

int64_t Random::integer(int64_t low, int64_t high) {
  const auto span = static_cast<uint64_t>(high - low) + 1;
  return low + static_cast<int64_t>(bits() % span);
}

torch::Tensor Random::tensor(torch::IntArrayRef shape, torch::ScalarType dtype) {
  auto values = torch::empty(shape, torch::kFloat32);
  float* data = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const uint64_t word = bits();
    const float size = 0.125f + 0.875f * static_cast<float>(word >> 40) * 0x1.0p-24f;
    data[i] = (word & 1) != 0 ? size : -size;
  }
  if (dtype == torch::kFloat64 && values.numel() > 0) {
    // More digits than a float holds, so that a cast to float and back is seen.
    auto wide = values.to(torch::kFloat64);
    double* digits = wide.data_ptr<double>();
    for (int64_t i = 0; i < wide.numel(); ++i) digits[i] *= 1 + uniform(-1e-7, 1e-7);
    return wide;
  }
  return values.to(dtype);
}

}  // namespace gradlab
