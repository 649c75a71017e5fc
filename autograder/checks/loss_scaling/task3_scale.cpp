// loss_scaling.3: the smallest power of two that saves every gradient. The yardstick tries them one
// after the other, with the rounding of float16.cpp.
#include <cmath>

#include "cases.hpp"
#include "float16.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::loss_scaling_checks;

void expect_scales(const Together& runs) {
  for (const auto& run : runs) {
    const double scale = loss_scaling_checks::smallest_saving_scale(run.in.gradients());
    EXPECT_THAT(run.got, Number("scale", Near(scale, 0)));
  }
}

TEST_F(LossScaling, task3_hand_worked_scales) {
  // 2^-25 is 2.98e-8.
  const std::vector<Case> cases{
      list_of({row({1e-8})}),
      list_of({row({1e-9})}),
      list_of({row({-1e-9, 1e-3})}),
      list_of({row({1e-3, 1e-9}), row({-1e-10})}),
      list_of({row({1e-12}), row({1e-9, -1e-6})}),
      list_of({scalar(2e-8)}),
  };
  const std::vector<double> worked{4, 32, 32, 512, 32768, 2};
  const auto got = subject().observe("saving_scale", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Number("scale", Near(worked[i], 0)));
    ++i;
  }
}

TEST_F(LossScaling, task3_the_smallest_that_saves_all) {
  std::vector<Case> cases{
      list_of({row({5e-10}), row({3e-7})}),
      list_of({row({5e-10}), none(), torch::empty({0}, torch::kFloat32), row({-7e-11})}),
  };
  for (int i = 0; i < 12; ++i) {
    const auto exponent = static_cast<int>(random().integer(-15, -10));
    auto gradients = draw_gradients(random(), 1 + i / 2, torch::kFloat32, exponent);
    gradients.push_back(draw_values(random(), {2}, torch::kFloat32, exponent + 3));
    if (i % 3 == 2) std::swap(gradients.front(), gradients.back());
    cases.push_back(list_of(gradients));
  }
  const auto got = subject().observe("saving_scale", cases);
  expect_scales(together(cases, got, got));
}

// A power of two as the smallest gradient: at the scale that brings it to 2^-25 it is lost still.
TEST_F(LossScaling, task3_a_tie_needs_one_more_doubling) {
  const auto around = [](int exponent) {
    const auto power = std::ldexp(1.0F, exponent);
    return std::vector<Case>{list_of({row({power})}), list_of({row({std::nextafter(power, 1.0F)})}),
                             list_of({row({-std::nextafter(power, 0.0F)})})};
  };
  std::vector<Case> cases;
  for (const int exponent : {-30, -26, static_cast<int>(random().integer(-50, -31))}) {
    for (auto& one : around(exponent)) cases.push_back(std::move(one));
  }
  const auto got = subject().observe("saving_scale", cases);
  expect_scales(together(cases, got, got));
}

TEST_F(LossScaling, task3_no_scale_makes_inf) {
  // The smallest is saved at `scale` and no earlier; the largest is what float16 holds there.
  const auto one = [](double scale, double largest) {
    return list_of({row({0x1.8p-25 / scale}), row({-largest / scale, 1e-3 / scale})});
  };
  std::vector<Case> cases{
      list_of({row({1e-9, 1e4})}),  // 1e4 * 32 is too large
      list_of({row({1e-9, 1e3})}),
      one(1024, 65504),
      one(1024, 65520),  // rounds to inf
      one(1024, 65519),  // rounds to 65504
      one(1024, 131072),
  };
  for (int i = 0; i < 6; ++i) {
    const double scale = draw_power(random(), 1, 30);
    const double largest = 65505.0 + static_cast<double>(random().integer(0, 14));
    cases.push_back(one(scale, i % 2 == 0 ? largest : largest + 15));
  }
  const auto got = subject().observe("saving_scale", cases);
  expect_scales(together(cases, got, got));
}

// From 10 on no two digits are a power of two: what becomes of a tie is the check above.
TEST_F(LossScaling, task3_scales_below_one) {
  std::vector<Case> cases{
      list_of({row({3})}),    list_of({row({-1000})}),           list_of({row({1e-6, 1e4})}),
      list_of({row({1e10})}), list_of({row({1e9}), row({100})}),
  };
  for (int i = 0; i < 4; ++i) {
    const auto exponent = static_cast<int>(random().integer(1, 12));
    cases.push_back(list_of(draw_gradients(random(), 1 + i, torch::kFloat32, exponent)));
  }
  const auto got = subject().observe("saving_scale", cases);
  expect_scales(together(cases, got, got));
}

TEST_F(LossScaling, task3_zeros_need_no_saving) {
  std::vector<Case> cases{
      list_of({row({0, 1e-9})}),
      list_of({row({-0.0}), row({1e-10})}),
      list_of({row({0, 1e-9}), row({-1e-11, 0})}),
  };
  for (int i = 0; i < 3; ++i) {
    auto gradients = draw_gradients(random(), 1 + i, torch::kFloat32, -12);
    gradients.push_back(torch::zeros({2, 2}, torch::kFloat32));
    cases.push_back(list_of(gradients));
  }
  const auto got = subject().observe("saving_scale", cases);
  expect_scales(together(cases, got, got));
}

TEST_F(LossScaling, task3_nothing_to_save_gives_one) {
  const std::vector<Case> cases{
      list_of({}),
      list_of({row({0, 0})}),
      list_of({none(), torch::empty({0}, torch::kFloat32)}),
      list_of({torch::zeros({2, 3}, torch::kFloat32), row({-0.0})}),
  };
  const auto got = subject().observe("saving_scale", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Number("scale", Near(1, 0)));
  }
}

}  // namespace
