#include "resume.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace resume {

namespace {

// A part is a set of named values; on paper, "name size\n" and `size` bytes, one after another.
using Part = std::map<std::string, std::string, std::less<>>;

std::string pack(const Part& part) {
  std::string out;
  for (const auto& [name, value] : part) {
    out += name + ' ' + std::to_string(value.size()) + '\n' + value;
  }
  return out;
}

Part unpack(std::string_view bytes) {
  Part part;
  while (!bytes.empty()) {
    const auto space = bytes.find(' ');
    const auto line = bytes.find('\n');
    if (space == bytes.npos || line == bytes.npos || line < space || line - space > 16) {
      throw std::runtime_error("no value begins here");
    }
    size_t size = 0;
    for (const char c : bytes.substr(space + 1, line - space - 1)) {
      if (c < '0' || c > '9') throw std::runtime_error("no size stands here");
      size = size * 10 + static_cast<size_t>(c - '0');
    }
    const std::string name(bytes.substr(0, space));
    bytes.remove_prefix(line + 1);
    if (bytes.size() < size) throw std::runtime_error("a value is cut short");
    part[name] = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return part;
}

template <typename T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return std::move(out).str();
}

template <typename T>
void parse(const std::string& from, T& value) {
  std::istringstream in(from);
  in >> value;
}

std::string tensors(const std::vector<torch::Tensor>& list) {
  std::ostringstream out;
  torch::save(list, out);
  return std::move(out).str();
}

std::vector<torch::Tensor> tensors(const std::string& from) {
  std::istringstream in(from);
  std::vector<torch::Tensor> list;
  torch::load(list, in);
  return list;
}

std::string index(size_t i) { return std::to_string(i); }

std::string shape_of(const torch::Tensor& value) {
  std::string shape;
  for (const int64_t size : value.sizes()) shape += std::to_string(size) + 'x';
  return shape;
}

}  // namespace

std::string save_model(const Trainer& trainer) {
  std::vector<torch::Tensor> values;
  for (const auto& weight : trainer.weights) values.push_back(weight.value.detach());
  std::ostringstream optimizer;
  torch::save(*trainer.optimizer, optimizer);
  return pack({{"values", tensors(values)}, {"optimizer", optimizer.str()}});
}

void load_model(Trainer& trainer, const std::string& bytes) {
  const Part part = unpack(bytes);
  const auto values = tensors(part.at("values"));
  for (size_t i = 0; i < values.size(); ++i) trainer.weights.at(i).value.data().copy_(values[i]);
  std::istringstream optimizer(part.at("optimizer"));
  trainer.optimizer->state().clear();
  torch::load(*trainer.optimizer, optimizer);
}

std::string save_scaler(const Trainer& trainer) {
  Part part{{"steps", text(trainer.schedule.steps)}};
  if (trainer.scaler.is_enabled()) {
    std::ostringstream out;
    torch::save(trainer.scaler, out);
    part["scaler"] = out.str();
  }
  return pack(part);
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  Part part = unpack(bytes);
  if (trainer.scaler.is_enabled()) {
    if (!part.contains("scaler")) throw std::runtime_error("this run had no scaler");
    std::istringstream in(part["scaler"]);
    torch::load(trainer.scaler, in);
    trainer.scaler.scale(torch::zeros({1}));
  }
  parse(part["steps"], trainer.schedule.steps);
}

std::string save_random(const Trainer& trainer) {
  const auto& [generator, epoch, position] = trainer.order;
  Part part{{"noise", tensors({trainer.noise.get_state()})},
            {"generator", text(generator)},
            {"position", text(position)}};
  for (const int64_t example : epoch) (part["epoch"] += text(example)) += ' ';
  return pack(part);
}

void load_random(Trainer& trainer, const std::string& bytes) {
  Part part = unpack(bytes);
  trainer.noise.set_state(tensors(part["noise"]).at(0));
  parse(part["generator"], trainer.order.generator);
  parse(part["position"], trainer.order.position);
  std::istringstream epoch(part["epoch"]);
  trainer.order.epoch.assign(std::istream_iterator<int64_t>(epoch), {});
}

std::string save_window(const Trainer& trainer) {
  Part part{{"gathered", text(trainer.window.gathered)}};
  for (size_t i = 0; trainer.window.gathered != 0 && i < trainer.weights.size(); ++i) {
    const auto& grad = trainer.weights[i].value.grad();
    if (grad.defined()) part[index(i)] = tensors({grad});
  }
  return pack(part);
}

void load_window(Trainer& trainer, const std::string& bytes) {
  Part part = unpack(bytes);
  parse(part["gathered"], trainer.window.gathered);
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    const auto found = part.find(index(i));
    trainer.weights[i].value.mutable_grad() =
        found == part.end() ? torch::Tensor() : tensors(found->second).at(0);
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  Part all{{"model", save_model(trainer)},
           {"scaler", save_scaler(trainer)},
           {"random", save_random(trainer)},
           {"window", save_window(trainer)},
           {"count", text(trainer.weights.size())},
           {"zzz", "end"}};
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    all["name" + index(i)] = trainer.weights[i].name;
    all["shape" + index(i)] = shape_of(trainer.weights[i].value);
  }
  const std::filesystem::path target(path), beside(path + "~");
  try {
    std::ofstream out;
    out.exceptions(std::ios::failbit | std::ios::badbit);
    out.open(beside, std::ios::binary | std::ios::trunc);
    out << pack(all) << std::flush;
    out.close();
    std::filesystem::rename(beside, target);
  } catch (const std::exception& error) {
    std::error_code none;
    std::filesystem::remove(beside, none);
    throw std::runtime_error(path + " was not written: " + error.what());
  }
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  Part all;
  size_t count = 0;
  try {
    std::ifstream in(path, std::ios::binary);
    if (!in.is_open()) throw std::runtime_error("it cannot be opened");
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    all = unpack(bytes);
    if (!all.contains("zzz")) throw std::runtime_error("its end is missing");
    parse(all.at("count"), count);
    for (size_t i = 0; i < count; ++i) {
      if (!all.contains("name" + index(i)) || !all.contains("shape" + index(i))) {
        throw std::runtime_error("a weight is missing");
      }
    }
    for (const char* part : {"model", "scaler", "random", "window"}) all.at(part);
  } catch (const std::exception& error) {
    throw std::runtime_error(path + " is not a checkpoint: " + error.what());
  }

  for (size_t i = 0; i < trainer.weights.size() || i < count; ++i) {
    const bool ours = i < trainer.weights.size(), theirs = i < count;
    if (ours && theirs && all.at("name" + index(i)) == trainer.weights[i].name &&
        all.at("shape" + index(i)) == shape_of(trainer.weights[i].value)) {
      continue;
    }
    throw std::runtime_error("not the same model, first seen at " +
                             (ours ? trainer.weights[i].name : all.at("name" + index(i))));
  }

  load_scaler(trainer, all.at("scaler"));
  load_model(trainer, all.at("model"));
  load_random(trainer, all.at("random"));
  load_window(trainer, all.at("window"));
}

}  // namespace resume
