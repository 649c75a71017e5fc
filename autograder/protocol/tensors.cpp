#include "protocol/tensors.hpp"

#include <ATen/MemoryOverlap.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace gradlab::protocol {
namespace {

constexpr int64_t kMaxDimensions = 16;

constexpr std::array<std::pair<const char*, torch::ScalarType>, 8> kDtypes{{
    {"float32", torch::kFloat32},
    {"float64", torch::kFloat64},
    {"float16", torch::kFloat16},
    {"bfloat16", torch::kBFloat16},
    {"int64", torch::kInt64},
    {"int32", torch::kInt32},
    {"uint8", torch::kUInt8},
    {"bool", torch::kBool},
}};

torch::ScalarType dtype_from(const nlohmann::json& json) {
  if (json.is_string()) {
    for (const auto& [name, dtype] : kDtypes) {
      if (json.get_ref<const std::string&>() == name) return dtype;
    }
  }
  throw MalformedTensor("unknown dtype " + json.dump());
}

bool is_known(torch::ScalarType dtype) {
  return std::any_of(kDtypes.begin(), kDtypes.end(),
                     [&](const auto& known) { return known.second == dtype; });
}

std::vector<int64_t> sizes_from(const nlohmann::json& json) {
  if (!json.is_array() || json.size() > kMaxDimensions) throw MalformedTensor("a bad shape");
  std::vector<int64_t> sizes;
  for (const auto& size : json) {
    if (!size.is_number_integer() || size.get<int64_t>() < 0) throw MalformedTensor("a bad size");
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

// Element count, refused where it would pass `most`: the product must not overflow first.
int64_t count_of(const std::vector<int64_t>& sizes, int64_t most) {
  // First of all: [3, 0] needs no bytes, wherever the zero stands.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (count > most / size) throw MalformedTensor("a shape with more elements than bytes");
    count *= size;
  }
  return count;
}

const nlohmann::json& field(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) throw MalformedTensor(fmt::format("a tensor without {}", name));
  return *found;
}

// Memory laid out with these strides. Gaps hold zeros: code that wrongly reads them finds the same
// in every run.
torch::Tensor laid_out(torch::IntArrayRef sizes, torch::IntArrayRef strides,
                       const torch::TensorOptions& options) {
  auto tensor = torch::empty_strided(sizes, strides, options);
  if (!tensor.is_non_overlapping_and_dense()) {
    std::memset(tensor.storage().mutable_data(), 0, tensor.storage().nbytes());
  }
  return tensor;
}

// An expanded tensor: one place in memory stands for several elements, so that they can't be
// written one by one.
bool shares_elements(const torch::Tensor& tensor) {
  return at::has_internal_overlap(tensor) == at::MemOverlap::Yes;
}

// Written where they tell more than the shape. Not of an expanded tensor: its values are compared,
// and how it saves memory is its own matter.
bool has_layout(const torch::Tensor& tensor) {
  return !tensor.is_contiguous() && !shares_elements(tensor);
}

// The values in memory laid out with the strides that were sent.
torch::Tensor with_strides(const torch::Tensor& values, const nlohmann::json& strides) {
  const auto wanted = sizes_from(strides);
  if (wanted.size() != static_cast<size_t>(values.dim())) {
    throw MalformedTensor("strides of another length");
  }
  const int64_t count = values.numel();
  uint64_t span = 1;  // a hostile stride must not reserve memory that was not sent
  for (size_t d = 0; d < wanted.size() && count > 0; ++d) {
    if (wanted[d] > 4 * count) throw MalformedTensor("a stride too wide");
    span += static_cast<uint64_t>((values.size(static_cast<int64_t>(d)) - 1) * wanted[d]);
  }
  if (span > 8 * static_cast<uint64_t>(count) + 64) throw MalformedTensor("strides too wide");
  auto tensor = laid_out(values.sizes(), wanted, values.options());
  if (shares_elements(tensor)) throw MalformedTensor("strides that share elements");
  return tensor.copy_(values);
}

bool same_view(const torch::Tensor& a, const torch::Tensor& b) {
  return a.defined() && a.data_ptr() == b.data_ptr() && a.dtype() == b.dtype() &&
         a.sizes() == b.sizes() && a.strides() == b.strides() && a.numel() > 0;
}

}  // namespace

nlohmann::json TensorWriter::add(const torch::Tensor& tensor) {
  if (tensor.defined() && (tensor.layout() != torch::kStrided || !tensor.device().is_cpu() ||
                           !is_known(tensor.scalar_type()))) {
    throw MalformedTensor(fmt::format("a {} tensor of {} on {}", c10::str(tensor.layout()),
                                      dtype_name(tensor.scalar_type()), tensor.device().str()));
  }
  written_.push_back(tensor);
  if (!tensor.defined()) return nullptr;
  for (size_t i = 0; i + 1 < written_.size(); ++i) {
    if (same_view(written_[i], tensor)) return {{"same_as", i}};
  }
  const torch::Tensor plain = tensor.detach().resolve_neg().contiguous();
  const size_t bytes = plain.nbytes();
  nlohmann::json description = {{"dtype", dtype_name(tensor.scalar_type())},
                                {"shape", tensor.sizes().vec()},
                                {"at", body_.size()}};
  if (has_layout(tensor)) description["strides"] = tensor.strides().vec();
  if (tensor.requires_grad()) description["requires_grad"] = true;
  body_.append(static_cast<const char*>(plain.data_ptr()), bytes);
  return description;
}

torch::Tensor TensorReader::read(const nlohmann::json& description) {
  torch::Tensor tensor;
  if (description.is_null()) {
    read_.push_back(tensor);
    return tensor;
  }
  if (!description.is_object()) throw MalformedTensor("a tensor that is not an object");
  if (const auto same = description.find("same_as"); same != description.end()) {
    if (!same->is_number_unsigned() || same->get<size_t>() >= read_.size()) {
      throw MalformedTensor("a reference to a tensor that was not sent");
    }
    read_.push_back(read_[same->get<size_t>()]);
    return read_.back();
  }
  const auto dtype = dtype_from(field(description, "dtype"));
  const auto sizes = sizes_from(field(description, "shape"));
  const auto width = static_cast<int64_t>(c10::elementSize(dtype));
  const int64_t count = count_of(sizes, static_cast<int64_t>(body_.size()) / width);
  const auto& at = field(description, "at");
  if (!at.is_number_unsigned() || at.get<uint64_t>() > body_.size() ||
      static_cast<uint64_t>(count * width) > body_.size() - at.get<uint64_t>()) {
    throw MalformedTensor("a tensor outside the frame");
  }
  // Each tensor has bytes of its own: many that share some would cost more memory than was sent.
  taken_ += static_cast<uint64_t>(count * width);
  if (taken_ > body_.size()) throw MalformedTensor("tensors that share their bytes");
  tensor = torch::empty(sizes, dtype);
  if (count > 0) {
    std::memcpy(tensor.data_ptr(), body_.data() + at.get<uint64_t>(),
                static_cast<size_t>(count * width));
  }
  if (const auto strides = description.find("strides"); strides != description.end()) {
    tensor = with_strides(tensor, *strides);
  }
  const auto grad = description.find("requires_grad");
  if (grad != description.end() && *grad == true && tensor.is_floating_point()) {
    tensor.requires_grad_(true);
  }
  read_.push_back(tensor);
  return tensor;
}

torch::Tensor copy_with_layout(const torch::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const torch::NoGradGuard no_grad;
  if (shares_elements(tensor)) return tensor.clone(at::MemoryFormat::Contiguous);
  return laid_out(tensor.sizes(), tensor.strides(), tensor.options()).copy_(tensor);
}

nlohmann::json number_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from_json(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw MalformedTensor("not a number: " + json.dump());
}

nlohmann::json to_json(const torch::Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  nlohmann::json data = nlohmann::json::array();
  const auto flat = tensor.detach().contiguous().to(torch::kFloat64).flatten();
  const double* values = flat.const_data_ptr<double>();
  for (int64_t i = 0; i < flat.numel(); ++i) data.push_back(number_to_json(values[i]));
  nlohmann::json json = {{"dtype", dtype_name(tensor.scalar_type())},
                         {"shape", tensor.sizes().vec()},
                         {"data", std::move(data)}};
  if (has_layout(tensor)) json["strides"] = tensor.strides().vec();
  if (tensor.requires_grad()) json["requires_grad"] = true;
  return json;
}

torch::Tensor tensor_from_json(const nlohmann::json& json) {
  if (json.is_null()) return {};
  if (!json.is_object()) throw MalformedTensor("a tensor that is not an object");
  const auto sizes = sizes_from(field(json, "shape"));
  const auto& data = field(json, "data");
  if (!data.is_array()) throw MalformedTensor("a tensor without data");
  if (count_of(sizes, static_cast<int64_t>(data.size())) != static_cast<int64_t>(data.size())) {
    throw MalformedTensor("a shape that does not fit its data");
  }
  auto flat = torch::empty({static_cast<int64_t>(data.size())}, torch::kFloat64);
  double* values = flat.data_ptr<double>();
  for (size_t i = 0; i < data.size(); ++i) values[i] = number_from_json(data[i]);
  auto tensor = flat.reshape(sizes).to(dtype_from(field(json, "dtype")));
  if (const auto strides = json.find("strides"); strides != json.end()) {
    tensor = with_strides(tensor, *strides);
  }
  if (json.value("requires_grad", false)) tensor.requires_grad_(true);
  return tensor;
}

std::string dtype_name(torch::ScalarType dtype) {
  for (const auto& [name, known] : kDtypes) {
    if (known == dtype) return name;
  }
  return c10::toString(dtype);
}

}  // namespace gradlab::protocol
