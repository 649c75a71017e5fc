// torch::save into string streams, as short as it goes; the file is a line of sizes and the parts.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gradlab/amp/state.hpp>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

static std::string str(OutputArchive& archive) {
  std::stringstream out;
  archive.save_to(out);
  return out.str();
}
static InputArchive parse(const std::string& bytes) {
  InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  return archive;
}

std::string save_model(const Trainer& trainer) {
  OutputArchive archive, optimizer;
  trainer.optimizer->save(optimizer);
  archive.write("optimizer", optimizer);
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    archive.write("w" + std::to_string(i), trainer.weights[i].value);
  }
  return str(archive);
}

void load_model(Trainer& trainer, const std::string& bytes) {
  torch::NoGradGuard guard;
  auto archive = parse(bytes);
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    torch::Tensor value;
    archive.read("w" + std::to_string(i), value);
    trainer.weights[i].value.set_data(value.detach());
  }
  InputArchive optimizer;
  archive.read("optimizer", optimizer);
  trainer.optimizer->state().clear();
  trainer.optimizer->load(optimizer);
}

std::string save_scaler(const Trainer& trainer) {
  OutputArchive archive;
  archive << trainer.scaler;
  archive.write("steps", torch::tensor(trainer.schedule.steps));
  return str(archive);
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  auto archive = parse(bytes);
  archive >> trainer.scaler;
  trainer.scaler.scale(torch::zeros(1));
  torch::Tensor steps;
  archive.read("steps", steps);
  trainer.schedule.steps = steps.item<int64_t>();
}

std::string save_random(const Trainer& trainer) {
  std::stringstream out;
  const auto& order = trainer.order;
  out << order.generator << " " << order.position << " " << order.epoch.size();
  for (auto example : order.epoch) out << " " << example;
  const auto noise = trainer.noise.get_state();
  out << "\n" << noise.numel() << "\n";
  out.write(reinterpret_cast<const char*>(noise.const_data_ptr<uint8_t>()), noise.numel());
  return out.str();
}

void load_random(Trainer& trainer, const std::string& bytes) {
  std::stringstream in(bytes);
  size_t size = 0;
  int64_t count = 0;
  in >> trainer.order.generator >> trainer.order.position >> size;
  trainer.order.epoch.assign(size, 0);
  for (auto& example : trainer.order.epoch) in >> example;
  in >> count;
  in.get();
  auto noise = torch::empty({count}, torch::kByte);
  in.read(reinterpret_cast<char*>(noise.data_ptr<uint8_t>()), count);
  trainer.noise.set_state(noise);
}

std::string save_window(const Trainer& trainer) {
  std::vector<torch::Tensor> all{torch::tensor(trainer.window.gathered)};
  for (const auto& value : trainer.values()) {
    if (value.grad().defined()) all.push_back(value.grad());
  }
  std::stringstream out;
  torch::save(all, out);
  return out.str();
}

void load_window(Trainer& trainer, const std::string& bytes) {
  std::vector<torch::Tensor> all;
  torch::load(all, bytes.data(), bytes.size());
  trainer.window.gathered = all[0].item<int64_t>();
  trainer.optimizer->zero_grad();
  for (size_t i = 1; i < all.size(); ++i) trainer.weights[i - 1].value.mutable_grad() = all[i];
}

static std::string heading(const Trainer& trainer) {
  std::stringstream out;
  for (const auto& w : trainer.weights) out << w.name << " " << w.value.sizes() << ";";
  return out.str();
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  const std::string parts[] = {heading(trainer), save_model(trainer), save_scaler(trainer),
                               save_random(trainer), save_window(trainer)};
  std::ofstream out(path + ".tmp", std::ios::binary);
  out << "resume";
  for (const auto& part : parts) out << " " << part.size();
  out << "\n";
  for (const auto& part : parts) out << part;
  if (!out.flush()) throw std::runtime_error("write failed: " + path);
  out.close();
  std::filesystem::rename(path + ".tmp", path);
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic, parts[5];
  size_t sizes[5] = {};
  in >> magic;
  if (!in || magic != "resume") throw std::runtime_error("not a checkpoint: " + path);
  for (auto& size : sizes) in >> size;
  in.get();
  for (int i = 0; i < 5; ++i) {
    if (!in || sizes[i] > 100000000) throw std::runtime_error("broken heading: " + path);
    parts[i].resize(sizes[i]);
    in.read(parts[i].data(), static_cast<std::streamsize>(sizes[i]));
  }
  if (!in) throw std::runtime_error("file too short: " + path);

  std::stringstream mine(heading(trainer)), theirs(parts[0]);
  for (std::string a, b;;) {
    const bool have_a = bool(std::getline(mine, a, ';')),
               have_b = bool(std::getline(theirs, b, ';'));
    if (!have_a && !have_b) break;
    if (!have_a) throw std::runtime_error("the model lacks " + b);
    if (!have_b) throw std::runtime_error("the file lacks " + a);
    if (a != b) throw std::runtime_error("the model has " + a + ", the file has " + b);
  }
  load_scaler(trainer, parts[2]);
  load_model(trainer, parts[1]);
  load_random(trainer, parts[3]);
  load_window(trainer, parts[4]);
}

}  // namespace resume
