// Tries, and takes back what it did: the trainer's own parts are saved before anything is loaded,
// and loaded again where something throws. Scaler by JSON.
#include <fstream>
#include <gradlab/amp/state.hpp>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

template <typename Fill>
std::string archived(Fill fill) {
  OutputArchive archive;
  fill(archive);
  std::string bytes;
  archive.save_to([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  return bytes;
}

InputArchive opened(const std::string& bytes) {
  InputArchive archive;
  archive.load_from(
      [&](uint64_t from, void* to, size_t count) {
        const auto size = std::min<size_t>(count, bytes.size() - std::min(from, bytes.size()));
        std::copy_n(bytes.data() + from, size, static_cast<char*>(to));
        return size;
      },
      [&] { return bytes.size(); });
  return archive;
}

constexpr uint32_t kMagic = 0x6b63686b;

struct Part {
  std::string (*save)(const Trainer&);
  void (*load)(Trainer&, const std::string&);
};
constexpr Part kParts[] = {{save_model, load_model},
                           {save_scaler, load_scaler},
                           {save_random, load_random},
                           {save_window, load_window}};

}  // namespace

std::string save_model(const Trainer& trainer) {
  return archived([&](OutputArchive& archive) {
    for (const auto& w : trainer.weights) archive.write(w.name, w.value.detach());
    OutputArchive own;
    trainer.optimizer->save(own);
    archive.write("adamw", own);
  });
}

void load_model(Trainer& trainer, const std::string& bytes) {
  auto archive = opened(bytes);
  torch::InferenceMode off(false);
  torch::NoGradGuard no_grad;
  for (auto& w : trainer.weights) {
    torch::Tensor value;
    archive.read(w.name, value);
    w.value.copy_(value);
  }
  InputArchive own;
  archive.read("adamw", own);
  torch::optim::AdamW fresh(trainer.values());  // knows nothing, so nothing old stays
  fresh.load(own);
  *trainer.optimizer = std::move(fresh);
}

std::string save_scaler(const Trainer& trainer) {
  return std::to_string(trainer.schedule.steps) + " " + gradlab::amp::to_json(trainer.scaler);
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  const auto space = bytes.find(' ');
  gradlab::amp::load_json(trainer.scaler, bytes.substr(space + 1));
  if (trainer.scaler.is_enabled()) trainer.scaler.scale(std::vector<at::Tensor>{torch::ones({})});
  trainer.schedule.steps = std::stoll(bytes.substr(0, space));
}

std::string save_random(const Trainer& trainer) {
  return archived([&](OutputArchive& archive) {
    std::ostringstream text;
    text << trainer.order.generator;
    archive.write("mt", c10::IValue(text.str()));
    archive.write("mt19937", trainer.noise.get_state());
    archive.write("order", c10::IValue(trainer.order.epoch));
    archive.write("taken", c10::IValue(trainer.order.position));
  });
}

void load_random(Trainer& trainer, const std::string& bytes) {
  auto archive = opened(bytes);
  c10::IValue mt, order, taken;
  torch::Tensor noise;
  archive.read("mt", mt);
  archive.read("mt19937", noise);
  archive.read("order", order);
  archive.read("taken", taken);
  std::istringstream(mt.toStringRef()) >> trainer.order.generator;
  trainer.noise.set_state(noise);
  trainer.order.epoch = order.toIntVector();
  trainer.order.position = taken.toInt();
}

std::string save_window(const Trainer& trainer) {
  return archived([&](OutputArchive& archive) {
    archive.write("count", c10::IValue(trainer.window.gathered));
    for (const auto& w : trainer.weights) {
      const auto& g = w.value.grad();
      archive.write(w.name, g.defined() ? g : torch::empty({0}));
    }
  });
}

void load_window(Trainer& trainer, const std::string& bytes) {
  auto archive = opened(bytes);
  c10::IValue count;
  archive.read("count", count);
  trainer.window.gathered = count.toInt();
  for (auto& w : trainer.weights) {
    torch::Tensor gradient;
    archive.read(w.name, gradient);
    w.value.mutable_grad() = gradient.numel() > 0 ? gradient : torch::Tensor{};
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  std::string bytes;
  const auto add = [&](const std::string& text) {
    const uint64_t size = text.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
  };
  for (const auto& w : trainer.weights) add(w.name + " of shape " + c10::str(w.value.sizes()));
  add("");
  for (const auto& part : kParts) add(part.save(trainer));
  bytes.append(reinterpret_cast<const char*>(&kMagic), sizeof kMagic);

  const auto aside = path + ".aside";
  std::ofstream out;
  out.exceptions(std::ios::badbit | std::ios::failbit);
  try {
    out.open(aside, std::ios::binary);
    out << bytes;
    out.close();
  } catch (const std::ios_base::failure& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
  if (std::rename(aside.c_str(), path.c_str()) != 0) throw std::runtime_error("no rename: " + path);
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes;
  if (in) bytes.assign(std::istreambuf_iterator<char>(in), {});
  uint32_t magic = 0;
  if (bytes.size() > sizeof magic) {
    std::copy_n(bytes.end() - sizeof magic, sizeof magic, reinterpret_cast<char*>(&magic));
  }
  if (magic != kMagic) throw std::runtime_error("no checkpoint, or not all of it: " + path);
  size_t at = 0;
  const auto next = [&] {
    uint64_t size = 0;
    if (bytes.size() - at < sizeof size) throw std::runtime_error("no checkpoint: " + path);
    std::copy_n(bytes.data() + at, sizeof size, reinterpret_cast<char*>(&size));
    at += sizeof size;
    if (size > bytes.size() - at) throw std::runtime_error("no checkpoint: " + path);
    at += size;
    return bytes.substr(at - size, size);
  };
  size_t i = 0;
  for (auto line = next();; line = next(), ++i) {
    const bool here = i < trainer.weights.size();
    if (!here && line.empty()) break;
    const auto mine =
        here ? trainer.weights[i].name + " of shape " + c10::str(trainer.weights[i].value.sizes())
             : "";
    if (mine != line) throw std::runtime_error(here ? mine + " is not in " + path : line);
  }
  std::vector<std::string> before;
  for (const auto& part : kParts) before.push_back(part.save(trainer));
  try {
    for (const auto& part : kParts) part.load(trainer, next());
  } catch (const std::exception& error) {
    for (size_t part = 0; part < before.size(); ++part) kParts[part].load(trainer, before[part]);
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace resume
