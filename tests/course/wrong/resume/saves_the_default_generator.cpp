#include "resume.hpp"

#include <torch/optim/serialize.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace resume {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

std::string bytes_of(OutputArchive& archive) {
  std::ostringstream stream;
  archive.save_to(stream);
  return stream.str();
}

InputArchive archive_of(const std::string& bytes) {
  std::istringstream stream(bytes);
  InputArchive archive;
  archive.load_from(stream);
  return archive;
}

torch::Tensor as_tensor(const std::string& text) {
  auto t = torch::empty({static_cast<int64_t>(text.size())}, torch::kByte);
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(t.data_ptr<uint8_t>()));
  return t;
}

std::string as_string(const torch::Tensor& t) {
  const auto c = t.contiguous();
  return {reinterpret_cast<const char*>(c.data_ptr<uint8_t>()), static_cast<size_t>(c.numel())};
}

torch::Tensor tensor_at(InputArchive& archive, const std::string& key) {
  torch::Tensor t;
  archive.read(key, t);
  return t;
}

int64_t int_at(InputArchive& archive, const std::string& key) {
  c10::IValue value;
  archive.read(key, value);
  return value.toInt();
}

double double_at(InputArchive& archive, const std::string& key) {
  c10::IValue value;
  archive.read(key, value);
  return value.toDouble();
}

std::string key_of(const char* what, size_t i) { return std::string(what) + std::to_string(i); }

}  // namespace

std::string save_model(const Trainer& trainer) {
  OutputArchive archive, inner;
  for (size_t i = 0; i < trainer.weights.size(); ++i)
    archive.write(key_of("weight", i), trainer.weights[i].value.detach());
  trainer.optimizer->save(inner);
  archive.write("optimizer", inner);
  return bytes_of(archive);
}

void load_model(Trainer& trainer, const std::string& bytes) {
  auto archive = archive_of(bytes);
  {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < trainer.weights.size(); ++i)
      trainer.weights[i].value.copy_(tensor_at(archive, key_of("weight", i)));
  }
  InputArchive inner;
  archive.read("optimizer", inner);
  trainer.optimizer->state().clear();
  trainer.optimizer->load(inner);
}

std::string save_scaler(const Trainer& trainer) {
  OutputArchive archive;
  archive.write("steps", c10::IValue(trainer.schedule.steps));
  const auto state = trainer.scaler.state();
  archive.write("enabled", c10::IValue(static_cast<int64_t>(state.has_value())));
  if (state) {
    archive.write("scale", c10::IValue(state->scale));
    archive.write("growth", c10::IValue(state->growth_factor));
    archive.write("backoff", c10::IValue(state->backoff_factor));
    archive.write("interval", c10::IValue(state->growth_interval));
    archive.write("tracker", c10::IValue(state->growth_tracker));
  }
  return bytes_of(archive);
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  auto archive = archive_of(bytes);
  const bool enabled = int_at(archive, "enabled") != 0;
  if (trainer.scaler.is_enabled() && !enabled)
    throw std::runtime_error("saved by a run whose scaler was disabled");
  if (trainer.scaler.is_enabled()) {
    gradlab::amp::GradScalerState state;
    state.scale = double_at(archive, "scale");
    state.growth_factor = double_at(archive, "growth");
    state.backoff_factor = double_at(archive, "backoff");
    state.growth_interval = int_at(archive, "interval");
    state.growth_tracker = int_at(archive, "tracker");
    trainer.scaler.load_state(state);
    (void)trainer.scaler.scale(torch::zeros({}));
  }
  trainer.schedule.steps = int_at(archive, "steps");
}

std::string save_random(const Trainer& trainer) {
  OutputArchive archive;
  archive.write("noise", at::detail::getDefaultCPUGenerator().get_state());
  std::ostringstream generator;
  generator << trainer.order.generator;
  archive.write("generator", as_tensor(generator.str()));
  archive.write("epoch", torch::tensor(trainer.order.epoch, torch::kLong));
  archive.write("position", c10::IValue(trainer.order.position));
  return bytes_of(archive);
}

void load_random(Trainer& trainer, const std::string& bytes) {
  auto archive = archive_of(bytes);
  auto generator_of_torch = at::detail::getDefaultCPUGenerator();
  generator_of_torch.set_state(tensor_at(archive, "noise"));
  std::istringstream generator(as_string(tensor_at(archive, "generator")));
  generator >> trainer.order.generator;
  const auto epoch = tensor_at(archive, "epoch").contiguous();
  const auto* first = epoch.data_ptr<int64_t>();
  trainer.order.epoch.assign(first, first + epoch.numel());
  trainer.order.position = int_at(archive, "position");
}

std::string save_window(const Trainer& trainer) {
  OutputArchive archive;
  archive.write("gathered", c10::IValue(trainer.window.gathered));
  if (trainer.window.gathered > 0) {
    for (size_t i = 0; i < trainer.weights.size(); ++i) {
      const auto& grad = trainer.weights[i].value.grad();
      if (grad.defined()) archive.write(key_of("grad", i), grad);
    }
  }
  return bytes_of(archive);
}

void load_window(Trainer& trainer, const std::string& bytes) {
  auto archive = archive_of(bytes);
  trainer.window.gathered = int_at(archive, "gathered");
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    torch::Tensor grad;
    if (!archive.try_read(key_of("grad", i), grad)) grad.reset();
    trainer.weights[i].value.mutable_grad() = grad;
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  OutputArchive archive;
  archive.write("count", c10::IValue(static_cast<int64_t>(trainer.weights.size())));
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    archive.write(key_of("name", i), as_tensor(trainer.weights[i].name));
    archive.write(key_of("shape", i),
                  torch::tensor(trainer.weights[i].value.sizes().vec(), torch::kLong));
  }
  archive.write("model", as_tensor(save_model(trainer)));
  archive.write("scaler", as_tensor(save_scaler(trainer)));
  archive.write("random", as_tensor(save_random(trainer)));
  archive.write("window", as_tensor(save_window(trainer)));
  const std::string bytes = bytes_of(archive);

  const std::string fresh = path + ".part";
  std::FILE* file = std::fopen(fresh.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot open " + fresh);
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  good = std::fflush(file) == 0 && good;
  good = std::fclose(file) == 0 && good;
  if (good) good = std::rename(fresh.c_str(), path.c_str()) == 0;
  if (!good) {
    std::remove(fresh.c_str());
    throw std::runtime_error("cannot write " + path);
  }
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::string model, scaler, random, window;
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;
  try {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("there is no file");
    std::stringstream content;
    content << file.rdbuf();
    auto archive = archive_of(content.str());
    const int64_t count = int_at(archive, "count");
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      names.push_back(as_string(tensor_at(archive, key_of("name", i))));
      const auto shape = tensor_at(archive, key_of("shape", i)).contiguous();
      shapes.emplace_back(shape.data_ptr<int64_t>(), shape.data_ptr<int64_t>() + shape.numel());
    }
    model = as_string(tensor_at(archive, "model"));
    scaler = as_string(tensor_at(archive, "scaler"));
    random = as_string(tensor_at(archive, "random"));
    window = as_string(tensor_at(archive, "window"));
  } catch (const std::exception& error) {
    throw std::runtime_error("cannot load " + path + ": " + error.what());
  }

  const size_t ours = trainer.weights.size(), theirs = names.size();
  for (size_t i = 0; i < ours || i < theirs; ++i) {
    if (i >= ours) throw std::runtime_error(names[i] + " is in the file and not in the model");
    const auto& weight = trainer.weights[i];
    if (i >= theirs) throw std::runtime_error(weight.name + " is not in the file");
    if (names[i] != weight.name) throw std::runtime_error(weight.name + " has another name there");
    if (weight.value.sizes().vec() != shapes[i])
      throw std::runtime_error(weight.name + " has another shape in the file");
  }

  load_scaler(trainer, scaler);
  load_model(trainer, model);
  load_random(trainer, random);
  load_window(trainer, window);
}

}  // namespace resume
