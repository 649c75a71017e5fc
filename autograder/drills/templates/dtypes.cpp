// Which dtype an op gives under autocast: the CPU's as run, CUDA's by LibTorch's lists.
#include <fmt/format.h>

#include <algorithm>

#include "drills/op_dtypes.hpp"
#include "drills/templates.hpp"

namespace gradlab::drills::templates {
namespace {

using Pick = std::string OpDtypes::*;

struct Asked {
  const char* device;
  const char* inputs;  // "a float32 input"
  const char* kept;    // the dtype that an op keeps which autocast leaves alone
  Pick right;
  Pick elsewhere;  // of the other device
};

bool is_askable(const std::string& dtype) {
  return dtype == "float16" || dtype == "float32" || dtype == "error";
}

Choices::Option option_of(const std::string& dtype) {
  if (dtype == "float16") return {dtype, {"half", "fp16", "f16", "khalf", "torch::khalf"}, ""};
  if (dtype == "float32") return {dtype, {"float", "fp32", "f32", "kfloat", "torch::kfloat"}, ""};
  return {dtype, {"refused", "throws", "exception", "an error"}, ""};
}

std::string mistake_of(const std::string& dtype, const OpDtypes& op, const Asked& asked) {
  if (dtype == op.*asked.elsewhere) {
    return fmt::format("is the other device's rule; {} has its own", asked.device);
  }
  if (dtype == asked.kept) return "leaves the input as it is, but autocast casts here";
  if (dtype == "error") return "expects a refusal, but this runs";
  return dtype == "float16" ? "makes everything half" : "keeps everything in float32";
}

Question of_op(const OpDtypes& op, const Asked& asked) {
  Choices answer;
  answer.listed = false;
  for (const char* dtype : {"float16", "float32", "error"}) {
    auto option = option_of(dtype);
    if (dtype == op.*asked.right) {
      answer.right = answer.options.size();
    } else {
      option.mistake = mistake_of(dtype, op, asked);
    }
    answer.options.push_back(std::move(option));
  }
  Question q;
  q.text = fmt::format("On {}, in a float16 autocast region: which dtype does {} give for {}?",
                       asked.device, op.name, asked.inputs);
  q.hint = "Products are cast down. Losses go up to float32. The rest depends on the device.";
  q.why = fmt::format("{} on {}: {}. The whole table: handouts/amp.md.", op.name, asked.device,
                      op.*asked.right);
  q.read = "handouts/amp.md";
  q.answer = std::move(answer);
  return q;
}

Question ask(const Asked& asked, Random& random) {
  for (;;) {
    const auto& op = random.pick(op_dtypes());
    if (is_askable(op.*asked.right)) return of_op(op, asked);
  }
}

Question cpu_from_float32(Random& random) {
  return ask({"the CPU", "float32 input", "float32", &OpDtypes::cpu_from_float32,
              &OpDtypes::cuda_from_float32},
             random);
}

Question cpu_from_float16(Random& random) {
  return ask({"the CPU", "float16 input", "float16", &OpDtypes::cpu_from_float16,
              &OpDtypes::cuda_from_float16},
             random);
}

Question cpu_from_both(Random& random) {
  return ask({"the CPU", "one float16 and one float32 input", "", &OpDtypes::cpu_from_both,
              &OpDtypes::cuda_from_both},
             random);
}

Question cuda_from_float32(Random& random) {
  return ask({"CUDA", "float32 input", "float32", &OpDtypes::cuda_from_float32,
              &OpDtypes::cpu_from_float32},
             random);
}

Question cuda_from_float16(Random& random) {
  return ask({"CUDA", "float16 input", "float16", &OpDtypes::cuda_from_float16,
              &OpDtypes::cpu_from_float16},
             random);
}

bool differs(const OpDtypes& op) { return op.cpu_from_float16 != op.cuda_from_float16; }

Question which_differs(Random& random) {
  std::vector<OpDtypes> same, unlike;
  for (const auto& op : op_dtypes()) (differs(op) ? unlike : same).push_back(op);
  random.shuffle(same);
  const auto& right = random.pick(unlike);
  std::vector<Choices::Option> options = {{right.name, {}, ""}};
  for (std::size_t i = 0; i < 3; ++i) {
    options.push_back({same[i].name,
                       {},
                       fmt::format("names an op that gives {} on both", same[i].cpu_from_float16)});
  }
  auto q = ask_choice(
      "Float16 input in a float16 autocast region: which of these ops gives another "
      "dtype on the CPU than on CUDA?",
      std::move(options));
  q.hint = "CUDA keeps reductions and functions of a wide range in float32. The CPU does not.";
  q.why = fmt::format("{}: {} on the CPU, {} on CUDA.", right.name, right.cpu_from_float16,
                      right.cuda_from_float16);
  q.read = "handouts/amp.md";
  return q;
}

}  // namespace

std::vector<Template> dtypes() {
  return {{"autocast.cpu_from_float32", "autocast", Kind::kDtype, cpu_from_float32},
          {"autocast.cpu_from_float16", "autocast", Kind::kDtype, cpu_from_float16},
          {"autocast.cpu_from_both", "autocast", Kind::kDtype, cpu_from_both},
          {"autocast.cuda_from_float32", "autocast", Kind::kDtype, cuda_from_float32},
          {"autocast.cuda_from_float16", "autocast", Kind::kDtype, cuda_from_float16},
          {"autocast.which_differs", "autocast", Kind::kDtype, which_differs}};
}

}  // namespace gradlab::drills::templates
