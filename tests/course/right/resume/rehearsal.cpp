// A checkpoint is first loaded into a trainer that nobody needs; what goes wrong goes wrong there.
// Moments are kept in one vector with the weights, by the order of the optimizer's group.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {
namespace {

using Floats = std::vector<float>;

void append(Floats& all, const torch::Tensor& t) {
  const auto row = t.detach().reshape(-1);
  for (int64_t i = 0; i < row.numel(); ++i) all.push_back(row.data_ptr<float>()[i]);
}

// Takes as many as the tensor needs from the front of what is left.
void fill(torch::Tensor t, const float*& from) {
  auto flat = t.detach().view(-1);
  for (int64_t i = 0; i < flat.numel(); ++i) flat.data_ptr<float>()[i] = *from++;
}

template <typename T>
void write_vector(std::ostream& out, const std::vector<T>& values) {
  const auto count = static_cast<uint32_t>(values.size());
  out.write(reinterpret_cast<const char*>(&count), sizeof count);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
}
template <typename T>
std::vector<T> read_vector(std::istream& in) {
  uint32_t count = 0;
  in.read(reinterpret_cast<char*>(&count), sizeof count);
  if (!in || count > (1u << 24)) throw std::runtime_error("the checkpoint is damaged");
  std::vector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!in) throw std::runtime_error("the checkpoint ends too early");
  return values;
}
std::vector<char> chars(const std::string& text) { return {text.begin(), text.end()}; }
std::string read_string(std::istream& in) {
  const auto all = read_vector<char>(in);
  return {all.begin(), all.end()};
}

constexpr int64_t kFormat = 20260;

}  // namespace

std::string save_model(const Trainer& trainer) {
  Floats floats;
  std::vector<int64_t> steps;
  for (const auto& param : trainer.optimizer->param_groups()[0].params()) {
    append(floats, param);
    const auto& all = trainer.optimizer->state();
    const auto it = all.find(param.unsafeGetTensorImpl());
    steps.push_back(0);
    if (it == all.end()) continue;
    auto& state = static_cast<torch::optim::AdamWParamState&>(*it->second);
    steps.back() = state.step();
    append(floats, state.exp_avg());
    append(floats, state.exp_avg_sq());
  }
  std::ostringstream out;
  write_vector(out, steps);
  write_vector(out, floats);
  return out.str();
}

void load_model(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  const auto steps = read_vector<int64_t>(in);
  const auto floats = read_vector<float>(in);
  const float* next = floats.data();
  auto& group = trainer.optimizer->param_groups()[0];
  trainer.optimizer->state().clear();
  for (size_t i = 0; i < steps.size(); ++i) {
    auto param = group.params()[i];
    fill(param, next);
    if (steps[i] == 0) continue;
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    state->step(steps[i]);
    state->exp_avg(torch::zeros_like(param.detach()));
    state->exp_avg_sq(torch::zeros_like(param.detach()));
    fill(state->exp_avg(), next);
    fill(state->exp_avg_sq(), next);
    trainer.optimizer->state()[param.unsafeGetTensorImpl()] = std::move(state);
  }
}

std::string save_scaler(const Trainer& trainer) {
  std::vector<double> numbers;
  if (const auto s = trainer.scaler.state()) {
    numbers = {s->scale, s->growth_factor, s->backoff_factor, double(s->growth_interval),
               double(s->growth_tracker)};
  }
  std::ostringstream out;
  write_vector(out, std::vector<int64_t>{trainer.schedule.steps});
  write_vector(out, numbers);
  return out.str();
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  const auto steps = read_vector<int64_t>(in).at(0);
  const auto n = read_vector<double>(in);
  using State = gradlab::amp::GradScalerState;
  trainer.scaler.load_state(n.empty() ? std::optional<State>()
                                      : State{n[0], n[1], n[2], int64_t(n[3]), int64_t(n[4])});
  trainer.scaler.scale(torch::tensor(0.0F));
  trainer.schedule.steps = steps;
}

std::string save_random(const Trainer& trainer) {
  std::ostringstream out, text;
  const auto noise = trainer.noise.get_state();
  const auto* first = noise.const_data_ptr<uint8_t>();
  text << trainer.order.generator;
  write_vector(out, std::vector<uint8_t>(first, first + noise.numel()));
  write_vector(out, chars(text.str()));
  write_vector(out, trainer.order.epoch);
  write_vector(out, std::vector<int64_t>{trainer.order.position});
  return out.str();
}

void load_random(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  auto noise = read_vector<uint8_t>(in);
  trainer.noise.set_state(
      torch::from_blob(noise.data(), {int64_t(noise.size())}, torch::kByte).clone());
  std::istringstream text(read_string(in));
  text >> trainer.order.generator;
  trainer.order.epoch = read_vector<int64_t>(in);
  trainer.order.position = read_vector<int64_t>(in).at(0);
}

std::string save_window(const Trainer& trainer) {
  Floats floats;
  for (const auto& w : trainer.weights) {
    if (w.value.grad().defined()) append(floats, w.value.grad());
  }
  std::ostringstream out;
  write_vector(out, std::vector<int64_t>{trainer.window.gathered});
  write_vector(out, floats);
  return out.str();
}

void load_window(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  trainer.window.gathered = read_vector<int64_t>(in).at(0);
  const auto floats = read_vector<float>(in);
  const float* next = floats.data();
  for (auto& w : trainer.weights) {
    w.value.mutable_grad() = torch::Tensor();
    if (floats.empty()) continue;
    w.value.mutable_grad() = torch::empty_like(w.value.detach());
    fill(w.value.grad(), next);
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  std::ostringstream out;
  write_vector(out, std::vector<int64_t>{kFormat, int64_t(trainer.weights.size())});
  for (const auto& w : trainer.weights) {
    write_vector(out, chars(w.name));
    write_vector(out, w.value.sizes().vec());
  }
  for (auto* save : {save_model, save_scaler, save_random, save_window}) {
    write_vector(out, chars(save(trainer)));
  }
  const auto bytes = out.str();
  const auto aside = "." + path.substr(path.rfind('/') + 1) + ".tmp";
  const auto where = path.substr(0, path.rfind('/') + 1) + aside;
  std::FILE* file = std::fopen(where.c_str(), "w");
  if (!file) throw std::runtime_error("cannot open " + where);
  std::setvbuf(file, nullptr, _IONBF, 0);
  const auto count = std::fwrite(bytes.data(), 1, bytes.size(), file);
  const int closed = std::fclose(file);
  if (count != bytes.size() || closed != 0) {
    throw std::runtime_error("wrote " + std::to_string(count) + " bytes only of " + path);
  }
  if (::rename(where.c_str(), path.c_str()) != 0) throw std::runtime_error("rename failed");
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  const auto head = read_vector<int64_t>(in);
  if (head.size() != 2 || head[0] != kFormat) throw std::runtime_error("unknown format: " + path);
  for (int64_t i = 0; i < std::max(head[1], int64_t(trainer.weights.size())); ++i) {
    const auto name = i < head[1] ? read_string(in) : "";
    const auto shape = i < head[1] ? read_vector<int64_t>(in) : std::vector<int64_t>{};
    if (i >= int64_t(trainer.weights.size())) throw std::runtime_error("unexpected weight " + name);
    const auto& ours = trainer.weights[size_t(i)];
    if (name != ours.name || shape != ours.value.sizes().vec()) {
      throw std::runtime_error("weight " + ours.name + " does not fit what the file has, " + name);
    }
  }
  std::string parts[4];
  for (auto& part : parts) part = read_string(in);
  const auto load_all = [&](Trainer& into) {
    load_model(into, parts[0]);
    load_scaler(into, parts[1]);
    load_random(into, parts[2]);
    load_window(into, parts[3]);
  };
  std::vector<Weight> copies;
  for (const auto& w : trainer.weights) {
    copies.push_back({w.name, w.value.detach().clone().requires_grad_(true)});
  }
  gradlab::amp::GradScalerOptions options;
  options.enabled = trainer.scaler.is_enabled();
  Trainer other(std::move(copies), 0, trainer.window.size, options);
  load_all(other);
  load_all(trainer);
}

}  // namespace resume
