// The resume lab's answer: LibTorch's archives for each part, and a file that holds the parts.
#include <filesystem>
#include <fstream>
#include <gradlab/amp/state.hpp>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "judge/implementations.hpp"
#include "resume.hpp"

namespace {

using resume::Trainer;
using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

std::string bytes_of(OutputArchive& archive) {
  std::ostringstream out;
  archive.save_to(out);
  return out.str();
}

InputArchive archive_of(const std::string& bytes) {
  InputArchive archive;
  std::istringstream in(bytes);
  archive.load_from(in);
  return archive;
}

c10::IValue read(InputArchive& archive, const std::string& key) {
  c10::IValue value;
  archive.read(key, value);
  return value;
}

// ---- task 1

std::string model_bytes(const Trainer& trainer) {
  OutputArchive archive, optimizer;
  for (const auto& weight : trainer.weights) archive.write(weight.name, weight.value.detach());
  trainer.optimizer->save(optimizer);
  archive.write("optimizer", optimizer);
  return bytes_of(archive);
}

void read_model(Trainer& trainer, const std::string& bytes) {
  const at::NoGradGuard no_grad;
  auto archive = archive_of(bytes);
  InputArchive optimizer;
  archive.read("optimizer", optimizer);
  for (const auto& weight : trainer.weights) {
    torch::Tensor saved;
    archive.read(weight.name, saved);
    weight.value.copy_(saved);  // in place: the optimizer holds this tensor
  }
  trainer.optimizer->state().clear();  // load() leaves what the archive does not have
  trainer.optimizer->load(optimizer);
}

// ---- task 2

std::string scaler_bytes(const Trainer& trainer) {
  OutputArchive archive;
  archive << trainer.scaler;
  archive.write("steps", c10::IValue(trainer.schedule.steps));
  return bytes_of(archive);
}

void read_scaler(Trainer& trainer, const std::string& bytes) {
  auto archive = archive_of(bytes);
  const int64_t steps = read(archive, "steps").toInt();
  archive >> trainer.scaler;              // all or nothing; throws for an empty state
  trainer.scaler.scale(torch::ones({}));  // the next call may be unscale_, which wants this first
  trainer.schedule.steps = steps;
}

// ---- task 3

std::string random_bytes(const Trainer& trainer) {
  std::ostringstream generator;
  generator << trainer.order.generator;
  OutputArchive archive;
  archive.write("noise", trainer.noise.get_state());
  archive.write("generator", c10::IValue(generator.str()));
  archive.write("epoch", torch::tensor(trainer.order.epoch, torch::kInt64));
  archive.write("position", c10::IValue(trainer.order.position));
  return bytes_of(archive);
}

void read_random(Trainer& trainer, const std::string& bytes) {
  auto archive = archive_of(bytes);
  torch::Tensor noise, epoch;
  archive.read("noise", noise);
  archive.read("epoch", epoch);
  trainer.noise.set_state(noise);
  std::istringstream generator(read(archive, "generator").toStringRef());
  generator >> trainer.order.generator;
  const auto* first = epoch.const_data_ptr<int64_t>();
  trainer.order.epoch.assign(first, first + epoch.numel());
  trainer.order.position = read(archive, "position").toInt();
}

// ---- task 4

std::string window_bytes(const Trainer& trainer) {
  OutputArchive archive;
  archive.write("gathered", c10::IValue(trainer.window.gathered));
  for (const auto& weight : trainer.weights) {
    if (weight.value.grad().defined()) archive.write(weight.name, weight.value.grad());
  }
  return bytes_of(archive);
}

void read_window(Trainer& trainer, const std::string& bytes) {
  auto archive = archive_of(bytes);
  trainer.window.gathered = read(archive, "gathered").toInt();
  for (const auto& weight : trainer.weights) {
    torch::Tensor gradient;  // undefined where none was saved
    archive.try_read(weight.name, gradient);
    weight.value.mutable_grad() = gradient;
  }
}

// ---- task 5

constexpr const char* kParts[] = {"model", "scaler", "random", "window"};
constexpr const char* kFormat = "gradlab resume 1";

std::string shape_of(const torch::Tensor& value) { return c10::str(value.sizes()); }

void write_whole(const std::string& path, const std::string& bytes) {
  const auto unfinished = path + ".part";
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(unfinished, path, failed);
  if (!out || failed) {
    std::filesystem::remove(unfinished, failed);
    throw std::runtime_error("cannot write " + path + ": is the disk full?");
  }
}

void write_file(const Trainer& trainer, const std::string& path) {
  OutputArchive archive;
  archive.write("format", c10::IValue(kFormat));
  const std::string parts[] = {model_bytes(trainer), scaler_bytes(trainer), random_bytes(trainer),
                               window_bytes(trainer)};
  for (size_t i = 0; i < std::size(parts); ++i) archive.write(kParts[i], c10::IValue(parts[i]));
  std::string weights;  // a line each: name, tab, shape
  for (const auto& weight : trainer.weights) {
    weights += weight.name + "\t" + shape_of(weight.value) + "\n";
  }
  archive.write("weights", c10::IValue(weights));
  write_whole(path, bytes_of(archive));
}

void require_same_weights(const Trainer& trainer, const std::string& saved) {
  std::istringstream lines(saved);
  std::string name, shape;
  for (const auto& weight : trainer.weights) {
    if (!std::getline(lines, name, '\t') || !std::getline(lines, shape)) {
      throw std::runtime_error("the checkpoint has no weight '" + weight.name + "'");
    }
    if (name != weight.name) {
      throw std::runtime_error("expected weight '" + weight.name + "', the checkpoint has '" +
                               name + "'");
    }
    if (shape != shape_of(weight.value)) {
      throw std::runtime_error("weight '" + name + "' is " + shape_of(weight.value) +
                               ", in the checkpoint " + shape);
    }
  }
  if (std::getline(lines, name, '\t')) {
    throw std::runtime_error("the checkpoint has one more weight, '" + name + "'");
  }
}

void read_file(Trainer& trainer, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  std::string weights, parts[std::size(kParts)];
  try {
    auto archive = archive_of(bytes);
    if (read(archive, "format").toStringRef() != kFormat) throw std::runtime_error("its format");
    weights = read(archive, "weights").toStringRef();
    for (size_t i = 0; i < std::size(kParts); ++i)
      parts[i] = read(archive, kParts[i]).toStringRef();
  } catch (const std::exception&) {  // c10::Error is no std::runtime_error
    throw std::runtime_error(path + " is no whole checkpoint of this program");
  }
  require_same_weights(trainer, weights);
  read_scaler(trainer, parts[1]);  // first: it alone can still refuse
  read_model(trainer, parts[0]);
  read_random(trainer, parts[2]);
  read_window(trainer, parts[3]);
}

resume::Impl answer() {
  resume::Impl impl;
  impl.save_model = model_bytes;
  impl.load_model = read_model;
  impl.save_scaler = scaler_bytes;
  impl.load_scaler = read_scaler;
  impl.save_random = random_bytes;
  impl.load_random = read_random;
  impl.save_window = window_bytes;
  impl.load_window = read_window;
  impl.save_checkpoint = write_file;
  impl.load_checkpoint = read_file;
  return impl;
}

[[maybe_unused]] const bool kRegistered = gradlab::set_reference(answer());

}  // namespace
