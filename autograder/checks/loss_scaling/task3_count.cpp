// loss_scaling.3: how many gradients float16 loses. The yardstick is float16.cpp.
#include <cmath>
#include <limits>

#include "cases.hpp"
#include "float16.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::loss_scaling_checks;

constexpr float kTie = 0x1p-25F;  // halfway between 0 and the smallest float16

void expect_counts(const Together& runs) {
  for (const auto& run : runs) {
    const int exponent = std::ilogb(run.in.number("scale"));
    const auto lost = static_cast<double>(count_lost(run.in.gradients(), exponent));
    EXPECT_THAT(run.got, Number("count", Near(lost, 0)));
  }
}

// Elements around the border at this scale; a wrong border shows elsewhere.
Gradients draw_around_border(Random& random, double scale, int count) {
  const auto exponent = static_cast<int>(std::floor(std::log10(kTie / scale)));
  Gradients gradients;
  for (int i = 0; i < count; ++i) {
    // 10 to 99 times a power of ten: a hundredth of the border, or a hundred times it.
    const int away = random.chance(0.5) ? -4 : 2;
    gradients.push_back(
        draw_values(random, {random.integer(1, 4)}, torch::kFloat32, exponent + away));
  }
  return gradients;
}

TEST_F(LossScaling, task3_hand_worked_counts) {
  const std::vector<Case> cases{
      count_case({row({1e-9})}, 1),
      count_case({row({1e-9})}, 1024),
      count_case({row({1e-9, -1e-9, 1})}, 1),
      count_case({row({1e-9, -1e-10}), row({-1e-11, 1})}, 256),
      count_case({row({1e-9, 1e-10, 1e-11, -1e-12})}, 1024),
      count_case({scalar(1e-8), row({2, 3})}, 1),
      count_case({scalar(1e-8), row({2, 3})}, 0x1p-10),
      count_case({row({1e-4, -1e-8})}, 0x1p-14),
  };
  const std::vector<double> worked{1, 0, 2, 2, 2, 1, 1, 2};
  const auto got = subject().observe("count", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Number("count", Near(worked[i], 0)));
    ++i;
  }
}

TEST_F(LossScaling, task3_the_border_of_float16) {
  const float above = std::nextafter(kTie, 1.0F);
  const float below = std::nextafter(kTie, 0.0F);
  const auto one = [](float value, int exponent) {
    const double scaled = std::ldexp(static_cast<double>(value), -exponent);
    return count_case({row({scaled})}, std::ldexp(1.0, exponent));
  };
  std::vector<Case> cases;
  // Lost: up to the tie, which goes to the even 0. Saved: the subnormals 2^-24 and on, what is
  // rounded up to the first, and normal numbers.
  for (const float value :
       {kTie, below, above, 0x1p-26F, 0x1p-24F, 0x1.8p-24F, 0x1p-15F, 0x1p-14F}) {
    cases.push_back(one(value, 0));
    cases.push_back(one(value, static_cast<int>(random().integer(1, 15))));
  }
  cases.push_back(one(kTie, -6));
  cases.push_back(one(above, -6));
  const auto got = subject().observe("count", cases);
  expect_counts(together(cases, got, got));
}

TEST_F(LossScaling, task3_zeros_are_not_lost) {
  std::vector<Case> cases{
      count_case({row({0})}, 1),
      count_case({row({0, 1e-9, -0.0, 1e-6})}, 1),
      count_case({row({0, 1e-9}), scalar(0), row({-1e-9, 1e-9, 1})}, 4),
  };
  for (int i = 0; i < 3; ++i) {
    auto gradients = draw_around_border(random(), 1, 2 + i);
    gradients.push_back(torch::zeros({1 + i, 2}, torch::kFloat32));
    cases.push_back(count_case(gradients, 1));
  }
  const auto got = subject().observe("count", cases);
  expect_counts(together(cases, got, got));
}

// Scales that are no float16, and gradients that are none before they are scaled.
TEST_F(LossScaling, task3_large_scales_save) {
  std::vector<Case> cases{
      count_case({row({1e-9})}, 65536),
      count_case({row({1e-9, 1e-14})}, 65536),
      count_case({row({1e-15, -1e-12}), row({1e-20})}, 0x1p30),
      count_case({row({1e-14, -1e-15}), row({1e-14})}, 65536),
      count_case({row({1e-15, -1e-30})}, 0x1p60),
  };
  for (int i = 0; i < 4; ++i) {
    const double scale = draw_power(random(), 16, 40);
    cases.push_back(count_case(draw_around_border(random(), scale, 3 + i), scale));
  }
  const auto got = subject().observe("count", cases);
  expect_counts(together(cases, got, got));
}

TEST_F(LossScaling, task3_count_of_random_lists) {
  std::vector<Case> cases{
      count_case({}, 1024),
      count_case({none(), row({1e-9})}, 1),
      count_case({row({1e-8, 2e-8}), none(), row({3e-9})}, 1024),
      count_case({row({1e-9}), none(), torch::empty({0}, torch::kFloat32), row({1e-9})}, 1),
      count_case({(draw_strided(random(), torch::kFloat32) * 1e-11F).t()}, 4),
  };
  for (int i = 0; i < 8; ++i) {
    const double scale = draw_power(random(), -8, 15);
    auto gradients = draw_around_border(random(), scale, 2 + i);
    if (i % 2 == 1) gradients[1] = none();
    gradients.push_back(draw_values(random(), {2, 3}, torch::kFloat32, -3).t());
    cases.push_back(count_case(gradients, scale));
  }
  const auto got = subject().observe("count", cases);
  expect_counts(together(cases, got, got));
}

TEST_F(LossScaling, task3_gradients_stay_as_they_are) {
  std::vector<Case> cases{
      count_case({row({3, -1e-9})}, 1024),
      count_case({row({3}), none(), scalar(-1e-9)}, 1024),
      count_case({draw_strided(random(), torch::kFloat32)}, 4),
  };
  for (int i = 0; i < 3; ++i) {
    const double scale = draw_power(random(), 1, 10);
    cases.push_back(count_case(draw_around_border(random(), scale, 2 + i), scale));
  }
  for (const char* experiment : {"count", "saving_scale"}) {
    const auto got = subject().observe(experiment, cases);
    for (const auto& run : together(cases, got, got)) {
      EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
    }
  }
}

}  // namespace
