// The reference of the drills: every number that a question expects comes from here, in exact
// double arithmetic, so that the command needs no LibTorch. A test holds each formula to the AMP
// library and LibTorch (tests/unit/drills_formulas_test.cpp).
#pragma once

#include <cstdint>
#include <vector>

namespace gradlab::drills {

inline constexpr double kEps = 1e-6;           // of clip_grad_norm_
inline constexpr double kLargestHalf = 65504;  // float16

double norm_of(const std::vector<double>& gradient);  // L2
// min(1, max_norm / (norm + 1e-6)).
double clip_factor(double norm, double max_norm);
std::vector<double> scaled_by(std::vector<double> gradient, double factor);

// A value as float16 holds it: to nearest, ties to even, inf beyond 65504, 0 below half of 2^-24.
double as_half(double value);

// torch.amp.GradScaler's update: one backoff if anything was found, else one count towards growth.
struct Scaler {
  double scale = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::int64_t interval = 2000;
  std::int64_t tracker = 0;

  void update(bool found_inf);
};

// How often a scaler skips until `gradient` times its scale is finite in float16, the scale then
// being `scaler.scale`.
int skips_until_it_fits(double gradient, Scaler& scaler);
// The largest power of two that keeps the product finite in float16.
double largest_scale(double gradient);
// The smallest power of two with which float16 does not round the product to zero.
double smallest_scale(double gradient);

}  // namespace gradlab::drills
