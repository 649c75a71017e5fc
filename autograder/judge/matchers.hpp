// GoogleMock matchers over an observation. Each compares by kind first (NaN, infinities, shapes,
// types), leaves the first mismatch as data for the record, and notes how near a comparison came to
// its tolerance. NaN never equals a number, on either side.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/mismatch.hpp"
#include "protocol/observation.hpp"

namespace gradlab {

// allowed = absolute + relative * |expected|
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

using NumberRule = std::function<std::optional<Mismatch>(double got)>;
using TensorRule = std::function<std::optional<Mismatch>(const std::vector<torch::Tensor>& got)>;

// Rules for a number.
NumberRule Near(double expected, double allowed);
// Any of several right answers, each with the same tolerance; the first is the one that is shown.
NumberRule NearAnyOf(std::vector<double> expected, double allowed);
// Within [low, high]; `in_words` says what that is.
NumberRule Between(double low, double high, std::string in_words);

// Rules for a list of tensors: same count, each defined or not, same shape and dtype, then values.
// `note` says why: "unchanged".
TensorRule BitEqualTo(std::vector<torch::Tensor> expected, std::string note = "");
TensorRule CloseTo(std::vector<torch::Tensor> expected, Tolerance tolerance);
// Every element between those of `low` and `high` (in either order), widened by the tolerance.
TensorRule BetweenTensors(std::vector<torch::Tensor> low, std::vector<torch::Tensor> high,
                          Tolerance tolerance, std::string in_words);
// 0-dim float64 tensors of 0 and 1, told as true and false.
TensorRule FlagsEqualTo(const std::vector<bool>& expected);

// EXPECT_THAT(run.got, Number("norm", Near(5, 1e-5)));
testing::Matcher<const Observation&> Number(std::string name, NumberRule rule);
testing::Matcher<const Observation&> Tensors(std::string name, TensorRule rule);
testing::Matcher<const Observation&> Flag(std::string name, bool expected);
testing::Matcher<const Observation&> Word(std::string name, std::string expected);
// How Observation::call saw a call end.
testing::Matcher<const Observation&> Returned();
testing::Matcher<const Observation&> ThrewRuntimeError();

}  // namespace gradlab
