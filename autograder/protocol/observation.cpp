#include "protocol/observation.hpp"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

#include "gradlab/todo.hpp"
#include "protocol/tensors.hpp"

namespace gradlab {
namespace {

constexpr size_t kMaxNames = 64;
constexpr size_t kMaxTensors = 4096;
constexpr size_t kMaxWord = 4096;

template <typename Map>
const typename Map::mapped_type& named(const Map& map, const std::string& name) {
  const auto found = map.find(name);
  if (found == map.end()) {
    throw protocol::MalformedFrame(fmt::format("the answer has no '{}'", name));
  }
  return found->second;
}

std::string text_of(const nlohmann::json& head, const char* name) {
  const auto found = head.find(name);
  if (found == head.end() || !found->is_string()) return {};
  return found->get<std::string>().substr(0, kMaxWord);
}

const nlohmann::json& object_of(const nlohmann::json& head, const char* name) {
  static const auto kEmpty = nlohmann::json::object();
  const auto found = head.find(name);
  if (found == head.end()) return kEmpty;
  if (!found->is_object() || found->size() > kMaxNames) {
    throw protocol::MalformedFrame(fmt::format("an answer whose {} are not a small object", name));
  }
  return *found;
}

bool says_out_of_memory(const char* what) {
  return std::string_view(what).find("DefaultCPUAllocator") != std::string_view::npos;
}

}  // namespace

Observation& Observation::add(const std::string& name, std::vector<torch::Tensor> tensors) {
  tensors_[name] = std::move(tensors);
  return *this;
}

Observation& Observation::add(const std::string& name, double number) {
  numbers_[name] = number;
  return *this;
}

Observation& Observation::add_word(const std::string& name, std::string word) {
  words_[name] = std::move(word);
  return *this;
}

Observation& Observation::call(const std::function<void()>& body) {
  try {
    body();
    return add_word(kEndOfCall, kReturned);
  } catch (const NotStarted&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::runtime_error&) {
    return add_word(kEndOfCall, kRuntimeError);
  } catch (const std::exception& error) {
    if (says_out_of_memory(error.what())) throw;
    add_word("what", first_sentence(error.what()));
    return add_word(kEndOfCall, kOtherException);
  } catch (...) {
    return add_word(kEndOfCall, kNoException);
  }
}

bool Observation::has(const std::string& name) const {
  return tensors_.contains(name) || numbers_.contains(name) || words_.contains(name);
}

const std::vector<torch::Tensor>& Observation::tensors(const std::string& name) const {
  return named(tensors_, name);
}

double Observation::number(const std::string& name) const { return named(numbers_, name); }

const std::string& Observation::word(const std::string& name) const { return named(words_, name); }

protocol::Frame Observation::to_frame() const {
  protocol::Frame frame;
  protocol::TensorWriter writer;
  auto& head = frame.head;
  for (const auto& [name, list] : tensors_) {
    auto& out = head["tensors"][name] = nlohmann::json::array();
    for (const auto& tensor : list) out.push_back(writer.add(tensor));
  }
  for (const auto& [name, value] : numbers_) {
    head["numbers"][name] = protocol::number_to_json(value);
  }
  if (!words_.empty()) head["words"] = words_;
  if (!threw.empty()) head["threw"] = threw;
  if (fault == Fault::kNotStarted) head["not_started"] = task;
  if (fault == Fault::kMemoryLimit) head["memory_limit"] = true;
  frame.body = writer.take_body();
  return frame;
}

Observation Observation::from_frame(const protocol::Frame& frame) {
  Observation seen;
  protocol::TensorReader reader(frame.body);
  size_t tensors = 0;
  for (const auto& [name, list] : object_of(frame.head, "tensors").items()) {
    if (!list.is_array() || (tensors += list.size()) > kMaxTensors) {
      throw protocol::MalformedFrame("an answer with too many tensors");
    }
    auto& out = seen.tensors_[name];
    for (const auto& tensor : list) out.push_back(reader.read(tensor));
  }
  for (const auto& [name, value] : object_of(frame.head, "numbers").items()) {
    seen.numbers_[name] = protocol::number_from_json(value);
  }
  for (const auto& [name, value] : object_of(frame.head, "words").items()) {
    if (!value.is_string()) throw protocol::MalformedFrame("a word that is not text");
    seen.words_[name] = value.get<std::string>().substr(0, kMaxWord);
  }
  seen.threw = text_of(frame.head, "threw");
  if (frame.head.contains("not_started")) {
    seen.fault = Fault::kNotStarted;
    seen.task = text_of(frame.head, "not_started");
  } else if (frame.head.contains("memory_limit")) {
    seen.fault = Fault::kMemoryLimit;
    seen.detail = "the memory limit was reached";
  }
  return seen;
}

std::string first_sentence(const std::string& what) {
  // c10::Error appends "Exception raised from …" and a stack; none of it is the student's.
  std::string text = what.substr(0, what.find("\nException raised from"));
  text = text.substr(0, text.find('\n'));
  if (const auto end = text.find(". "); end != std::string::npos) text.resize(end + 1);
  constexpr size_t kMost = 300;
  if (text.size() > kMost) text = text.substr(0, kMost) + " …";
  return text;
}

}  // namespace gradlab
