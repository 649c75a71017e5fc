// Everything is an IValue and goes through LibTorch's pickler; the file is one pickled tuple behind
// its length. The optimizer is made anew when it is loaded.
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {
namespace {

using c10::IValue;

std::string pickled(const IValue& value) {
  const auto bytes = torch::pickle_save(value);
  return {bytes.begin(), bytes.end()};
}
IValue unpickled(const std::string& bytes) {
  return torch::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
}

using Dict = c10::Dict<std::string, torch::Tensor>;

torch::Tensor bytes_to_tensor(const std::string& text) {
  auto out = torch::empty({static_cast<int64_t>(text.size())}, torch::kUInt8);
  std::memcpy(out.data_ptr(), text.data(), text.size());
  return out;
}
std::string tensor_to_bytes(const torch::Tensor& t) {
  return std::string(static_cast<const char*>(t.data_ptr()), t.nbytes());
}

}  // namespace

std::string save_model(const Trainer& trainer) {
  Dict d;
  for (const auto& [name, value] : trainer.weights) {
    d.insert(name, value.detach().clone());
    const auto& all = trainer.optimizer->state();
    const auto it = all.find(value.unsafeGetTensorImpl());
    if (it == all.end()) continue;
    const auto& state = static_cast<const torch::optim::AdamWParamState&>(*it->second);
    d.insert(name + "/m", state.exp_avg());
    d.insert(name + "/v", state.exp_avg_sq());
    d.insert(name + "/t", torch::tensor(state.step()));
  }
  return pickled(d);
}

void load_model(Trainer& trainer, const std::string& bytes) {
  const auto d =
      c10::impl::toTypedDict<std::string, torch::Tensor>(unpickled(bytes).toGenericDict());
  auto optimizer = std::make_unique<torch::optim::AdamW>(trainer.values());
  for (auto& [name, value] : trainer.weights) {
    value.data().copy_(d.at(name));
    if (!d.contains(name + "/m")) continue;
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    state->exp_avg(d.at(name + "/m"));
    state->exp_avg_sq(d.at(name + "/v"));
    state->step(d.at(name + "/t").item<int64_t>());
    optimizer->state()[value.unsafeGetTensorImpl()] = std::move(state);
  }
  trainer.optimizer = std::move(optimizer);
}

std::string save_scaler(const Trainer& trainer) {
  std::vector<double> numbers{static_cast<double>(trainer.schedule.steps)};
  if (const auto s = trainer.scaler.state()) {
    numbers.insert(numbers.end(), {s->scale, s->growth_factor, s->backoff_factor,
                                   static_cast<double>(s->growth_interval),
                                   static_cast<double>(s->growth_tracker)});
  }
  return pickled(torch::tensor(numbers, torch::kFloat64));
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  const auto numbers = unpickled(bytes).toTensor();
  const auto* n = numbers.const_data_ptr<double>();
  std::optional<gradlab::amp::GradScalerState> state;
  if (numbers.numel() == 6) {
    state = gradlab::amp::GradScalerState{n[1], n[2], n[3], static_cast<int64_t>(n[4]),
                                          static_cast<int64_t>(n[5])};
  }
  trainer.scaler.load_state(state);
  trainer.scaler.scale(torch::zeros({}));
  trainer.schedule.steps = static_cast<int64_t>(n[0]);
}

std::string save_random(const Trainer& trainer) {
  std::ostringstream text;
  text << trainer.order.generator;
  auto order = trainer.order.epoch;
  order.push_back(trainer.order.position);
  Dict d;
  d.insert("noise", trainer.noise.get_state());
  d.insert("twister", bytes_to_tensor(text.str()));
  d.insert("order", torch::tensor(order));
  return pickled(d);
}

void load_random(Trainer& trainer, const std::string& bytes) {
  const auto d =
      c10::impl::toTypedDict<std::string, torch::Tensor>(unpickled(bytes).toGenericDict());
  trainer.noise.set_state(d.at("noise"));
  std::istringstream text(tensor_to_bytes(d.at("twister")));
  text >> trainer.order.generator;
  const auto order = d.at("order");
  auto& epoch = trainer.order.epoch;
  epoch.assign(order.data_ptr<int64_t>(), order.data_ptr<int64_t>() + order.numel());
  trainer.order.position = epoch.back();
  epoch.pop_back();
}

std::string save_window(const Trainer& trainer) {
  c10::List<torch::Tensor> all;
  all.push_back(torch::tensor(trainer.window.gathered));
  for (const auto& w : trainer.weights) {
    if (w.value.grad().defined()) all.push_back(w.value.grad());
  }
  return pickled(all);
}

void load_window(Trainer& trainer, const std::string& bytes) {
  const auto all = unpickled(bytes).toTensorVector();
  trainer.window.gathered = all.front().item<int64_t>();
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    auto& grad = trainer.weights[i].value.mutable_grad();
    all.size() > 1 ? (void)(grad = all[i + 1]) : grad.reset();
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  Dict file;
  int64_t i = 0;
  for (const auto& [name, value] : trainer.weights) {
    file.insert("name " + std::to_string(i), bytes_to_tensor(name));
    file.insert("shape " + std::to_string(i++), torch::tensor(value.sizes()));
  }
  file.insert("model", bytes_to_tensor(save_model(trainer)));
  file.insert("scaler", bytes_to_tensor(save_scaler(trainer)));
  file.insert("random", bytes_to_tensor(save_random(trainer)));
  file.insert("window", bytes_to_tensor(save_window(trainer)));
  const auto bytes = pickled(file);
  const uint64_t head[2] = {0x52534d45ull, bytes.size()};

  const auto temporary = path + ".incomplete";
  std::FILE* out = std::fopen(temporary.c_str(), "wb");
  if (out == nullptr) throw std::runtime_error("cannot create a file beside " + path);
  bool ok = std::fwrite(head, sizeof head, 1, out) == 1;
  ok = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size() && ok;
  ok = std::fflush(out) == 0 && ok;
  ok = std::fclose(out) == 0 && ok;
  if (!ok) {
    std::remove(temporary.c_str());
    throw std::runtime_error("no room for " + path);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) throw std::runtime_error("rename");
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::FILE* in = std::fopen(path.c_str(), "rb");
  if (in == nullptr) throw std::runtime_error(path + " is not there");
  std::string bytes;
  for (int c; (c = std::fgetc(in)) != EOF;) bytes.push_back(static_cast<char>(c));
  std::fclose(in);
  uint64_t head[2] = {};
  if (bytes.size() >= sizeof head) std::memcpy(head, bytes.data(), sizeof head);
  if (head[0] != 0x52534d45ull || head[1] != bytes.size() - sizeof head) {
    throw std::runtime_error(path + " is no whole checkpoint");
  }
  const auto file = c10::impl::toTypedDict<std::string, torch::Tensor>(
      unpickled(bytes.substr(sizeof head)).toGenericDict());
  for (size_t i = 0;; ++i) {
    const auto name = "name " + std::to_string(i), shape = "shape " + std::to_string(i);
    const bool there = file.contains(name), here = i < trainer.weights.size();
    if (!there && !here) break;
    const auto called = here ? trainer.weights[i].name : tensor_to_bytes(file.at(name));
    if (!there || !here || tensor_to_bytes(file.at(name)) != called ||
        !torch::equal(file.at(shape), torch::tensor(trainer.weights[i].value.sizes()))) {
      throw std::runtime_error("the file is of another model: see " + called);
    }
  }
  load_scaler(trainer, tensor_to_bytes(file.at("scaler")));
  load_model(trainer, tensor_to_bytes(file.at("model")));
  load_random(trainer, tensor_to_bytes(file.at("random")));
  load_window(trainer, tensor_to_bytes(file.at("window")));
}

}  // namespace resume
