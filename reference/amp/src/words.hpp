// Names of LibTorch's values as a reader writes them.
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>

#include <sstream>
#include <string>

namespace gradlab::amp::words {

// "float16", as Python names it; LibTorch's own word for the rare ones.
inline std::string dtype(c10::ScalarType type) {
  switch (type) {
    case c10::kHalf:
      return "float16";
    case c10::kBFloat16:
      return "bfloat16";
    case c10::kFloat:
      return "float32";
    case c10::kDouble:
      return "float64";
    case c10::kInt:
      return "int32";
    case c10::kLong:
      return "int64";
    case c10::kComplexFloat:
      return "complex64";
    case c10::kComplexDouble:
      return "complex128";
    default:
      return c10::toString(type);
  }
}

inline std::string layout(c10::Layout value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// 2 as "2.0": the order of a norm in the words of Python's message.
inline std::string python_float(double value) {
  std::ostringstream out;
  out << value;
  const std::string text = out.str();
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

}  // namespace gradlab::amp::words
