#include "judge/smaller_cases.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace gradlab {
namespace {

using List = std::vector<torch::Tensor>;

size_t longest_list(const Case& in) {
  size_t longest = 0;
  for (const auto& [name, list] : in.all_tensors()) longest = std::max(longest, list.size());
  return longest;
}

// `change` for every list of the longest length: those that belong together.
Case with_lists(const Case& in, const std::function<List(const List&)>& change) {
  const size_t longest = longest_list(in);
  Case smaller = in;
  for (const auto& [name, list] : in.all_tensors()) {
    if (list.size() == longest) smaller.set(name, change(list));
  }
  return smaller;
}

Case with_tensors(const Case& in, size_t from, size_t to) {
  return with_lists(in, [&](const List& list) {
    return List(list.begin() + static_cast<ptrdiff_t>(from),
                list.begin() + static_cast<ptrdiff_t>(to));
  });
}

Case without_tensor(const Case& in, size_t index) {
  return with_lists(in, [&](List list) {
    list.erase(list.begin() + static_cast<ptrdiff_t>(index));
    return list;
  });
}

// One half along the longest dimension.
torch::Tensor half_of(const torch::Tensor& tensor, bool first) {
  if (!tensor.defined() || tensor.numel() < 2) return tensor;
  const auto sizes = tensor.sizes();
  const auto dim = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  const int64_t middle = sizes[static_cast<size_t>(dim)] / 2;
  const auto plain = tensor.detach();
  auto half = first ? plain.narrow(dim, 0, middle)
                    : plain.narrow(dim, middle, sizes[static_cast<size_t>(dim)] - middle);
  if (tensor.is_contiguous()) half = half.clone(at::MemoryFormat::Contiguous);
  return half.requires_grad_(tensor.requires_grad());
}

Case with_halves(const Case& in, bool first, std::optional<size_t> only) {
  return with_lists(in, [&](List list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (!only || *only == i) list[i] = half_of(list[i], first);
    }
    return list;
  });
}

// To one significant digit.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double power = std::pow(10.0, std::abs(std::floor(std::log10(std::abs(value)))));
  return std::abs(value) < 1 ? std::round(value * power) / power
                             : std::round(value / power) * power;
}

Case with_round_numbers(const Case& in) {
  Case rounder = with_lists(in, [](List list) {
    for (auto& tensor : list) {
      if (!tensor.defined() || !tensor.is_floating_point()) continue;
      auto values = tensor.detach().to(torch::kFloat64).contiguous().clone();
      for (int64_t i = 0; i < values.numel(); ++i) {
        double& value = values.data_ptr<double>()[i];
        value = rounded(value);
      }
      auto round = torch::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
      tensor = round.copy_(values).requires_grad_(tensor.requires_grad());
    }
    return list;
  });
  for (const auto& [name, value] : in.all_numbers()) rounder.number(name, rounded(value));
  return rounder;
}

}  // namespace

std::vector<Case> smaller_cases(const Case& in) {
  std::vector<Case> smaller;
  const size_t count = longest_list(in);
  if (count > 3) {
    smaller.push_back(with_tensors(in, 0, count / 2));
    smaller.push_back(with_tensors(in, count / 2, count));
  }
  for (size_t i = 0; i < count && count > 1; ++i) smaller.push_back(without_tensor(in, i));
  for (const bool first : {true, false}) smaller.push_back(with_halves(in, first, std::nullopt));
  for (size_t i = 0; i < count && count > 1; ++i) {
    for (const bool first : {true, false}) smaller.push_back(with_halves(in, first, i));
  }
  smaller.push_back(with_round_numbers(in));
  // What a way leaves as it was is none.
  const auto size = [](const Case& one) {
    return std::pair(one.element_count(), one.describe().size() + 100 * longest_list(one));
  };
  std::erase_if(smaller, [&](const Case& one) { return size(one) >= size(in); });
  return smaller;
}

}  // namespace gradlab
