// One function a part says what is in it, for both ways; bytes of its own, with a checksum. The
// file is written by POSIX calls.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {
namespace {

class Writer {
 public:
  static constexpr bool kReads = false;
  std::string bytes;

  void raw(const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }
  void operator()(int64_t value) { raw(&value, sizeof value); }
  void operator()(double value) { raw(&value, sizeof value); }
  void operator()(const std::string& text) {
    (*this)(static_cast<int64_t>(text.size()));
    raw(text.data(), text.size());
  }
  void operator()(const torch::Tensor& tensor) {
    (*this)(static_cast<int64_t>(tensor.defined()));
    if (!tensor.defined()) return;
    const auto flat = tensor.detach().contiguous();
    (*this)(static_cast<int64_t>(flat.scalar_type()));
    (*this)(flat.dim());
    for (const int64_t size : flat.sizes()) (*this)(size);
    raw(flat.data_ptr(), flat.nbytes());
  }
};

class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  void operator()(int64_t& value) { raw(&value, sizeof value); }
  void operator()(double& value) { raw(&value, sizeof value); }
  void operator()(std::string& text) {
    int64_t size = 0;
    (*this)(size);
    if (size < 0 || static_cast<size_t>(size) > bytes_.size() - at_) short_file();
    text = bytes_.substr(at_, static_cast<size_t>(size));
    at_ += text.size();
  }
  void operator()(torch::Tensor& tensor) {
    int64_t defined = 0, type = 0, dim = 0;
    (*this)(defined);
    tensor = torch::Tensor();
    if (!defined) return;
    (*this)(type);
    (*this)(dim);
    std::vector<int64_t> shape(static_cast<size_t>(dim));
    for (auto& size : shape) (*this)(size);
    tensor = torch::empty(shape, static_cast<torch::ScalarType>(type));
    raw(tensor.data_ptr(), tensor.nbytes());
  }

 private:
  void raw(void* data, size_t size) {
    if (size > bytes_.size() - at_) short_file();
    std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }
  [[noreturn]] static void short_file() { throw std::runtime_error("the checkpoint is cut short"); }

  const std::string& bytes_;
  size_t at_ = 0;
};

template <typename Archive>
void visit_model(Trainer& trainer, Archive& archive) {
  const at::NoGradGuard no_grad;
  auto& all = trainer.optimizer->state();
  for (auto& weight : trainer.weights) {
    torch::Tensor value = weight.value;
    archive(value);
    if constexpr (Archive::kReads) weight.value.copy_(value);
    auto* key = weight.value.unsafeGetTensorImpl();
    int64_t known = all.find(key) != all.end();
    archive(known);
    if constexpr (Archive::kReads) {
      all.erase(key);
      if (known) all[key] = std::make_unique<torch::optim::AdamWParamState>();
    }
    if (!known) continue;
    auto& state = static_cast<torch::optim::AdamWParamState&>(*all[key]);
    int64_t step = state.step();
    torch::Tensor first = state.exp_avg(), second = state.exp_avg_sq();
    archive(step);
    archive(first);
    archive(second);
    if constexpr (Archive::kReads) state.step(step).exp_avg(first).exp_avg_sq(second);
  }
}

template <typename Archive>
void visit_scaler(Trainer& trainer, Archive& archive) {
  auto state = trainer.scaler.state();
  int64_t enabled = state.has_value();
  archive(enabled);
  if (enabled && !state) state.emplace();  // a disabled scaler reads past it
  if (enabled) {
    archive(state->scale);
    archive(state->growth_factor);
    archive(state->backoff_factor);
    archive(state->growth_interval);
    archive(state->growth_tracker);
  }
  int64_t steps = trainer.schedule.steps;
  archive(steps);
  if constexpr (Archive::kReads) {
    trainer.scaler.load_state(enabled ? state : std::nullopt);
    (void)trainer.scaler.scale(torch::ones({}));
    trainer.schedule.steps = steps;
  }
}

template <typename Archive>
void visit_random(Trainer& trainer, Archive& archive) {
  torch::Tensor noise = trainer.noise.get_state();
  std::stringstream text;
  text << trainer.order.generator;
  std::string generator = text.str();
  int64_t examples = static_cast<int64_t>(trainer.order.epoch.size());
  archive(noise);
  archive(generator);
  archive(examples);
  trainer.order.epoch.resize(static_cast<size_t>(examples));
  for (auto& example : trainer.order.epoch) archive(example);
  archive(trainer.order.position);
  if constexpr (Archive::kReads) {
    trainer.noise.set_state(noise);
    std::stringstream(generator) >> trainer.order.generator;
  }
}

template <typename Archive>
void visit_window(Trainer& trainer, Archive& archive) {
  archive(trainer.window.gathered);
  for (auto& weight : trainer.weights) {
    if constexpr (Archive::kReads) {
      archive(weight.value.mutable_grad());
    } else {
      archive(weight.value.grad());
    }
  }
}

// Saving reads only: the visitors take a trainer that they may change, and a Writer changes none.
Trainer& readable(const Trainer& trainer) { return const_cast<Trainer&>(trainer); }

template <void (*visit)(Trainer&, Writer&)>
std::string written(const Trainer& trainer) {
  Writer writer;
  visit(readable(trainer), writer);
  return writer.bytes;
}

uint64_t checksum(const std::string& bytes) {
  uint64_t sum = 1469598103934665603ull;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return sum;
}

}  // namespace

std::string save_model(const Trainer& trainer) { return written<visit_model<Writer>>(trainer); }
void load_model(Trainer& trainer, const std::string& bytes) {
  Reader reader(bytes);
  visit_model(trainer, reader);
}

std::string save_scaler(const Trainer& trainer) { return written<visit_scaler<Writer>>(trainer); }
void load_scaler(Trainer& trainer, const std::string& bytes) {
  Reader reader(bytes);
  visit_scaler(trainer, reader);
}

std::string save_random(const Trainer& trainer) { return written<visit_random<Writer>>(trainer); }
void load_random(Trainer& trainer, const std::string& bytes) {
  Reader reader(bytes);
  visit_random(trainer, reader);
}

std::string save_window(const Trainer& trainer) { return written<visit_window<Writer>>(trainer); }
void load_window(Trainer& trainer, const std::string& bytes) {
  Reader reader(bytes);
  visit_window(trainer, reader);
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  Writer writer;
  writer(static_cast<int64_t>(trainer.weights.size()));
  for (const auto& weight : trainer.weights) {
    writer(weight.name);
    writer(c10::str(weight.value.sizes()));
  }
  writer(save_model(trainer));
  writer(save_scaler(trainer));
  writer(save_random(trainer));
  writer(save_window(trainer));
  const auto sum = checksum(writer.bytes);
  const std::string bytes =
      std::string(reinterpret_cast<const char*>(&sum), sizeof sum) + writer.bytes;

  const std::string next = path + "~";
  const int file = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) throw std::runtime_error("cannot create " + next);
  bool good = true;
  for (size_t at = 0; good && at < bytes.size();) {
    const auto count = ::write(file, bytes.data() + at, bytes.size() - at);
    good = count > 0;
    if (good) at += static_cast<size_t>(count);
  }
  good = good && fsync(file) == 0;
  good = close(file) == 0 && good;
  if (!good || std::rename(next.c_str(), path.c_str()) != 0) {
    unlink(next.c_str());
    throw std::runtime_error("cannot write " + path);
  }
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::string bytes;
  {
    const int file = open(path.c_str(), O_RDONLY);
    if (file < 0) throw std::runtime_error("cannot open " + path);
    char buffer[4096];
    for (ssize_t count; (count = ::read(file, buffer, sizeof buffer)) > 0;) {
      bytes.append(buffer, static_cast<size_t>(count));
    }
    close(file);
  }
  uint64_t sum = 0;
  if (bytes.size() < sizeof sum) throw std::runtime_error(path + " is too short");
  std::memcpy(&sum, bytes.data(), sizeof sum);
  bytes.erase(0, sizeof sum);
  if (sum != checksum(bytes)) throw std::runtime_error(path + " is damaged");

  Reader reader(bytes);
  int64_t count = 0;
  reader(count);
  for (size_t i = 0; i < std::max(trainer.weights.size(), static_cast<size_t>(count)); ++i) {
    std::string name, shape;
    if (i < static_cast<size_t>(count)) {
      reader(name);
      reader(shape);
    }
    if (i >= trainer.weights.size()) throw std::runtime_error(name + " has no place in this model");
    const auto& weight = trainer.weights[i];
    if (name != weight.name || shape != c10::str(weight.value.sizes())) {
      throw std::runtime_error(weight.name + " is another one in the file: " + name + " " + shape);
    }
  }
  std::string parts[4];
  for (auto& part : parts) reader(part);
  load_scaler(trainer, parts[1]);
  load_model(trainer, parts[0]);
  load_random(trainer, parts[2]);
  load_window(trainer, parts[3]);
}

}  // namespace resume
