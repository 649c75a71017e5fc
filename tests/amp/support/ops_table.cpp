#include "support/ops_table.hpp"

#include <ATen/autocast_mode.h>

#include <set>
#include <sstream>
#include <vector>

#include "gradlab/amp/autocast.hpp"
#include "support/golden.hpp"
#include "support/ops.hpp"

namespace golden {
namespace {

// The first argument of each entry is the op's name.
#define GRADLAB_NAME(op, ...) #op,
const std::set<std::string> kLower = {AT_FORALL_LOWER_PRECISION_FP(GRADLAB_NAME)};
const std::set<std::string> kFloat32 = {AT_FORALL_FP32(GRADLAB_NAME)};
const std::set<std::string> kFloat32ByDtype = {AT_FORALL_FP32_SET_OPT_DTYPE(GRADLAB_NAME)};
const std::set<std::string> kPromote = {AT_FORALL_PROMOTE(GRADLAB_NAME)};
#undef GRADLAB_NAME
const std::set<std::string> kBanned = {"binary_cross_entropy"};  // registered apart, to throw

struct Rule {
  std::string in_words;
  std::string from_float32;
  std::string from_float16;
  std::string from_both;  // "" where the op decides, not autocast
};

Rule cuda_rule(const std::string& aten) {
  if (kBanned.count(aten) > 0) return {"refused", "error", "error", "error"};
  if (kLower.count(aten) > 0) return {"float16", "float16", "float16", "float16"};
  if (kFloat32.count(aten) + kFloat32ByDtype.count(aten) > 0) {
    return {"float32", "float32", "float32", "float32"};
  }
  if (kPromote.count(aten) > 0) return {"the widest input", "float32", "float16", "float32"};
  return {"as its inputs", "float32", "float16", ""};
}

// "float16", "error", "complex64": what a run on the CPU gives.
std::string run(const Op& op, const Json& spec, const std::string& variant) {
  const gradlab::amp::AutocastGuard autocast(at::kCPU, at::kHalf);
  const std::string dtype = outcome(op, spec, variant, at::kHalf);
  return dtype == "error_prioritize" ? "error" : dtype;
}

// Calls that go round autocast, and plain repetitions of an op in another form.
bool is_a_row(const Op& op) {
  static const std::set<std::string> left_out = {
      "linear_without_bias",         "matmul_vectors", "mm_method",         "sum_dim",
      "cross_entropy_probabilities", "norm",           "mul_scalar_tensor", "mm_int64"};
  return op.aten.front() != '(' && left_out.count(op.name) == 0;
}

struct Row {
  std::string name, wide, low, mixed;  // mixed: "" of one input
  Rule cuda;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const Case& one : cases("autocast/ops.json")) {
    const Op& call = op(one.name);
    if (!is_a_row(call)) continue;
    const bool two = one.body.at("float16").at("inside").contains("low_then_f32");
    all.push_back({one.name, run(call, one.body, "f32"), run(call, one.body, "low"),
                   two ? run(call, one.body, "low_then_f32") : "", cuda_rule(call.aten)});
  }
  return all;
}

}  // namespace

std::string ops_table() {
  std::ostringstream out;
  out << "| op | CPU, float32 in | CPU, float16 in | CPU, float16 and float32 | CUDA | |\n"
         "|---|---|---|---|---|---|\n";
  for (const auto& [name, wide, low, mixed, cuda] : rows()) {
    const bool same = wide == cuda.from_float32 && low == cuda.from_float16 &&
                      (mixed.empty() || cuda.from_both.empty() || mixed == cuda.from_both);
    out << "| " << name << " | " << wide << " | " << low << " | " << mixed << " | " << cuda.in_words
        << " | " << (same ? "" : "differs") << " |\n";
  }
  return out.str();
}

std::string drill_dtypes() {
  std::ostringstream out;
  for (const auto& [name, wide, low, mixed, cuda] : rows()) {
    const std::string both = mixed.empty() ? "" : cuda.from_both;
    const char* between = "{";
    for (const auto& word : {name, wide, low, mixed, cuda.from_float32, cuda.from_float16, both}) {
      out << between << '"' << word << '"';
      between = ", ";
    }
    out << "},\n";
  }
  return out.str();
}

}  // namespace golden
