#include "cases.hpp"

#include <algorithm>

#include "judge/shrink.hpp"

namespace gradlab::autocast_checks {
namespace {

bool fits(const torch::Tensor& weight, const torch::Tensor& bias, int64_t features) {
  return weight.dim() == 2 && weight.size(1) == features && weight.size(0) > 0 &&
         (!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)));
}

// A case may be made smaller for display while its layers and batches still fit each other.
bool layers_fit(const Case& in) {
  const auto& all = in.all_tensors();
  // An island's values are worked by hand, and its own size is small.
  if (!all.contains("weights")) return false;
  const auto& weights = in.tensors("weights");
  const auto biases = all.contains("bias vectors") ? in.tensors("bias vectors")
                                                   : std::vector<torch::Tensor>(weights.size());
  // One layer without a bias is shown as a case without such a list.
  if (all.contains("bias vectors") && biases.size() == 1 && !biases.front().defined()) return false;
  const auto &x = in.tensors("x"), &y = in.tensors("y");
  if (weights.empty() || x.empty() || weights.size() != biases.size() || x.size() != y.size()) {
    return false;
  }
  for (size_t step = 0; step < x.size(); ++step) {
    if (x[step].dim() != 2 || y[step].dim() != 2 || x[step].size(0) == 0) return false;
    int64_t features = x[step].size(1);
    for (size_t i = 0; i < weights.size(); ++i) {
      if (features == 0 || !fits(weights[i], biases[i], features)) return false;
      features = weights[i].size(0);
    }
    if (y[step].size(0) != x[step].size(0) || y[step].size(1) != features) return false;
  }
  return true;
}

double largest(const std::vector<torch::Tensor>& list) {
  double most = 0;
  for (const auto& tensor : list) {
    if (!tensor.defined() || tensor.numel() == 0) continue;
    most = std::max(most, tensor.detach().abs().max().item<double>());
  }
  return most;
}

[[maybe_unused]] const bool kBounds = shrink_only_to(layers_fit);

}  // namespace

torch::Tensor matrix(const std::vector<std::vector<double>>& rows) {
  std::vector<double> flat;
  for (const auto& values : rows) flat.insert(flat.end(), values.begin(), values.end());
  const auto height = static_cast<int64_t>(rows.size());
  return torch::tensor(flat, torch::kFloat64).to(torch::kFloat32).view({height, -1});
}

torch::Tensor half_of(const torch::Tensor& tensor, const std::string& dtype) {
  return tensor.to(dtype == "float16" ? torch::kHalf : torch::kBFloat16);
}

Case plain(const std::string& dtype) {
  return Case().word("dtype", dtype).word("caller", "outside every region");
}

Case one_layer(const std::string& dtype, torch::Tensor weight, torch::Tensor x, torch::Tensor y) {
  return plain(dtype)
      .add("weights", std::move(weight))
      .add("x", std::move(x))
      .add("y", std::move(y));
}

torch::Tensor eighths(Random& random, torch::IntArrayRef shape) {
  auto values = torch::empty(shape, torch::kFloat32);
  float* data = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const auto count = static_cast<float>(random.integer(1, 15));
    data[i] = (random.chance(0.5) ? count : -count) / 8;
  }
  return values;
}

Case draw_model(Random& random, const std::string& dtype, int layers, int batches) {
  Case in = plain(dtype);
  const int64_t first = random.integer(2, 4);
  int64_t features = first;
  for (int i = 0; i < layers; ++i) {
    const int64_t next = random.integer(2, 4);
    in.add("weights", eighths(random, {next, features}));
    in.add("bias vectors", i == 1 && layers > 2 ? torch::Tensor() : eighths(random, {next}));
    features = next;
  }
  for (int i = 0; i < batches; ++i) {
    const int64_t rows = random.integer(1, 3);
    in.add("x", eighths(random, {rows, first}));
    in.add("y", eighths(random, {rows, features}));
  }
  return in;
}

const std::vector<std::string>& callers_outside() {
  static const std::vector<std::string> kAll{
      "outside every region", "outside, with dtype float16 set", "outside, with the cache off"};
  return kAll;
}

TensorRule close_in_half(const std::vector<torch::Tensor>& expected, double at_least) {
  return CloseTo(expected,
                 {.absolute = kInHalf * std::max(at_least, largest(expected)), .relative = 0});
}

double largest_weight(const Case& in) { return largest(in.tensors("weights")); }

}  // namespace gradlab::autocast_checks
