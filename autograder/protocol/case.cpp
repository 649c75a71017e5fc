#include "protocol/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "protocol/singular.hpp"
#include "protocol/tensors.hpp"

namespace gradlab {
namespace {

constexpr int64_t kShownElements = 12;

// [[1, 2], [2, 4]], row by row.
std::string nested(const torch::Tensor& tensor) {
  if (tensor.dim() == 0) {
    const double value = tensor.item<double>();
    // As the narrow type writes it: 0.3 and not 0.30000001192092896.
    const bool wide = tensor.scalar_type() == torch::kFloat64;
    return wide ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  }
  std::vector<std::string> rows;
  for (int64_t i = 0; i < tensor.size(0); ++i) rows.push_back(nested(tensor[i]));
  return fmt::format("[{}]", fmt::join(rows, ", "));
}

// With what is out of the ordinary: another type than float32, memory that does not lie in order.
std::string shown_value(const torch::Tensor& tensor) {
  const bool plain = tensor.scalar_type() == torch::kFloat32;
  const std::string type = plain ? "" : protocol::dtype_name(tensor.scalar_type()) + " ";
  return type + nested(tensor.detach()) + (tensor.is_contiguous() ? "" : " (not contiguous)");
}

std::string shown_list(const std::string& name, const std::vector<torch::Tensor>& list) {
  std::vector<std::string> parts;
  int64_t elements = 0;
  for (const auto& tensor : list) elements += tensor.defined() ? tensor.numel() : 1;
  const std::string head = list.size() == 1 ? fmt::format("one {}", singular(name))
                                            : fmt::format("{} {}", list.size(), name);
  if (elements > kShownElements) return fmt::format("{} of {} elements in all", head, elements);
  for (const auto& tensor : list) {
    parts.push_back(tensor.defined() ? shown_value(tensor) : std::string("none"));
  }
  return fmt::format("{} {}", head, fmt::join(parts, ", "));
}

}  // namespace

Case& Case::add(const std::string& name, torch::Tensor tensor) {
  tensors_[name].push_back(std::move(tensor));
  return *this;
}

Case& Case::set(const std::string& name, std::vector<torch::Tensor> tensors) {
  tensors_[name] = std::move(tensors);
  return *this;
}

Case& Case::number(const std::string& name, double value) {
  numbers_[name] = value;
  return *this;
}

Case& Case::integer(const std::string& name, int64_t value) {
  integers_[name] = value;
  return *this;
}

Case& Case::word(const std::string& name, std::string value) {
  words_[name] = std::move(value);
  return *this;
}

Case& Case::parameter(torch::Tensor value, torch::Tensor gradient, bool requires_grad) {
  value.requires_grad_(requires_grad);
  add("parameters", std::move(value));
  return add("gradients", std::move(gradient));
}

const std::vector<torch::Tensor>& Case::tensors(const std::string& name) const {
  static const std::vector<torch::Tensor> kNone;
  const auto found = tensors_.find(name);
  // A model without parameters is a case, too; any other missing name is a slip of the author.
  if (found == tensors_.end()) {
    if (name == "parameters" || name == "gradients") return kNone;
    throw std::out_of_range(fmt::format("the case holds no tensors named {}", name));
  }
  return found->second;
}

std::vector<torch::Tensor> Case::copies(const std::string& name) const {
  std::vector<torch::Tensor> fresh;
  for (const auto& tensor : tensors(name)) fresh.push_back(protocol::copy_with_layout(tensor));
  return fresh;
}

std::vector<torch::Tensor> Case::parameters() const {
  auto fresh = copies("parameters");
  const auto gradients = copies("gradients");
  for (size_t i = 0; i < fresh.size(); ++i) {
    fresh[i].requires_grad_(tensors("parameters")[i].requires_grad());
    if (gradients[i].defined()) fresh[i].mutable_grad() = gradients[i];
  }
  return fresh;
}

int64_t Case::element_count() const {
  int64_t count = 0;
  for (const auto& [name, list] : tensors_) {
    for (const auto& tensor : list) count += tensor.defined() ? tensor.numel() : 0;
  }
  return count;
}

std::string Case::describe() const {
  std::vector<std::string> parts;
  for (const auto& [name, list] : tensors_) {
    if (name != "parameters") parts.push_back(shown_list(name, list));
  }
  for (const auto& [name, value] : numbers_) parts.push_back(fmt::format("{} {}", name, value));
  for (const auto& [name, value] : integers_) parts.push_back(fmt::format("{} {}", name, value));
  for (const auto& [name, value] : words_) parts.push_back(fmt::format("{} {}", name, value));
  if (parts.empty()) return "no parameters";
  return fmt::format("{}", fmt::join(parts, ", "));
}

void Case::write(nlohmann::json& head, std::string& body) const {
  protocol::TensorWriter writer;
  head = {{"tensors", nlohmann::json::object()}};
  for (const auto& [name, list] : tensors_) {
    auto& out = head["tensors"][name] = nlohmann::json::array();
    for (const auto& tensor : list) out.push_back(writer.add(tensor));
  }
  for (const auto& [name, value] : numbers_) {
    head["numbers"][name] = protocol::number_to_json(value);
  }
  if (!integers_.empty()) head["integers"] = integers_;
  if (!words_.empty()) head["words"] = words_;
  body = writer.take_body();
}

namespace {
void read_scalars(const nlohmann::json& json, Case& in) {
  // A named copy: items() of a temporary would outlive it.
  const auto group = [&](const char* name) { return json.value(name, nlohmann::json::object()); };
  const auto numbers = group("numbers"), integers = group("integers"), words = group("words");
  for (const auto& [name, value] : numbers.items()) {
    in.number(name, protocol::number_from_json(value));
  }
  for (const auto& [name, value] : integers.items()) in.integer(name, value.get<int64_t>());
  for (const auto& [name, value] : words.items()) in.word(name, value.get<std::string>());
}
}  // namespace

Case Case::read(const nlohmann::json& head, const std::string& body) {
  Case in;
  protocol::TensorReader reader(body);
  for (const auto& [name, list] : head.at("tensors").items()) {
    for (const auto& tensor : list) in.add(name, reader.read(tensor));
  }
  read_scalars(head, in);
  return in;
}

nlohmann::json Case::to_json() const {
  nlohmann::json json = {{"tensors", nlohmann::json::object()}};
  for (const auto& [name, list] : tensors_) {
    auto& out = json["tensors"][name] = nlohmann::json::array();
    for (const auto& tensor : list) out.push_back(protocol::to_json(tensor));
  }
  for (const auto& [name, value] : numbers_) {
    json["numbers"][name] = protocol::number_to_json(value);
  }
  if (!integers_.empty()) json["integers"] = integers_;
  if (!words_.empty()) json["words"] = words_;
  return json;
}

Case Case::from_json(const nlohmann::json& json) {
  Case in;
  for (const auto& [name, list] : json.at("tensors").items()) {
    for (const auto& tensor : list) in.add(name, protocol::tensor_from_json(tensor));
  }
  read_scalars(json, in);
  return in;
}

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : parameters) gradients.push_back(parameter.grad());
  return gradients;
}

}  // namespace gradlab
