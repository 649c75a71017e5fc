// Golden data (tests/golden, or the folder that GRADLAB_GOLDEN names): cases, tensors, comparisons.
#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "gradlab/amp/error.hpp"

namespace golden {

using Json = nlohmann::json;

struct Case {
  std::string name;
  Json body;
};
inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

// The cases of "clip/clip.json" and the like. Throws where the file is missing.
std::vector<Case> cases(const std::string& file);

// A test's name: the case's, with what GoogleTest does not take replaced.
std::string test_name(const testing::TestParamInfo<Case>& info);

// "inf", "-inf", "nan" or a number.
double number(const Json& json);
torch::ScalarType dtype(const std::string& name);
std::string dtype_name(torch::ScalarType type);
// {dtype, shape, data}; undefined for null.
torch::Tensor tensor(const Json& json);
// A flat list of numbers in the type and shape of `like`.
torch::Tensor flat(const Json& data, const torch::Tensor& like);

// Values, dtype and shape; NaN equals NaN, 0 is not -0.
testing::AssertionResult bit_equal(const torch::Tensor& got, const torch::Tensor& expected);
// |got - expected| <= absolute + relative * |expected|; what is not finite by kind.
testing::AssertionResult close(const torch::Tensor& got, const torch::Tensor& expected,
                               double relative, double absolute);
// Bit for bit on the machine and LibTorch that the data is from (x86-64 with AVX2, 2.11), else
// within the tolerance that tests/golden/README.md gives.
testing::AssertionResult as_recorded(const torch::Tensor& got, const torch::Tensor& expected,
                                     double relative, double absolute);

// The word that golden data has for what `call` throws, "" where it returns. What ATen itself
// throws comes as "aten".
template <typename CallT>
std::string error_kind(const CallT& call) {
  try {
    call();
    return "";
  } catch (const gradlab::amp::Error& error) {
    return gradlab::amp::name(error.kind());
  } catch (const c10::Error&) {
    return "aten";
  }
}

// The message of the library's error that `call` throws, "" where it returns.
template <typename CallT>
std::string error_message(const CallT& call) {
  try {
    call();
    return "";
  } catch (const gradlab::amp::Error& error) {
    return error.what();
  }
}

// The kind of a case's or step's "error", "" for null.
std::string expected_error(const Json& error);

}  // namespace golden
