#include "common.hpp"

#include <cstring>
#include <sstream>
#include <stdexcept>

namespace gradlab::resume_bugs {
namespace {

constexpr const char* kEnd = "end of items";
constexpr size_t kMostDimensions = 8;

void write_number(std::string& to, int64_t value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void write_text(std::string& to, const std::string& text) {
  write_number(to, static_cast<int64_t>(text.size()));
  to += text;
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  const char* take(size_t count) {
    if (count > bytes_.size() - at_) throw std::runtime_error("the bytes are cut short");
    at_ += count;
    return bytes_.data() + at_ - count;
  }
  int64_t number() {
    int64_t value = 0;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    const auto size = static_cast<size_t>(number());
    return {take(size), size};
  }
  torch::Tensor tensor() {
    const auto type = static_cast<torch::ScalarType>(number());
    const auto dimensions = static_cast<size_t>(number());
    if (dimensions > kMostDimensions) throw std::runtime_error("these are no items");
    std::vector<int64_t> shape(dimensions);
    for (auto& size : shape) size = number();
    auto values = torch::empty(shape, type);
    std::memcpy(values.data_ptr(), take(values.nbytes()), values.nbytes());
    return values;
  }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

torch::optim::AdamWParamState* state_of(const Trainer& trainer, size_t index) {
  const auto& all = trainer.optimizer->state();
  const auto found = all.find(trainer.weights[index].value.unsafeGetTensorImpl());
  return found == all.end() ? nullptr
                            : static_cast<torch::optim::AdamWParamState*>(found->second.get());
}

}  // namespace

std::string pack(const Items& items) {
  std::string bytes;
  for (const auto& [name, tensor] : items) {
    const auto values = tensor.detach().contiguous();
    write_text(bytes, name);
    write_number(bytes, static_cast<int64_t>(values.scalar_type()));
    write_number(bytes, values.dim());
    for (const auto size : values.sizes()) write_number(bytes, size);
    bytes.append(static_cast<const char*>(values.const_data_ptr()), values.nbytes());
  }
  write_text(bytes, kEnd);
  return bytes;
}

namespace {
void read_items(const std::string& bytes, Items& items) {
  Reader reader(bytes);
  for (auto name = reader.text(); name != kEnd; name = reader.text()) {
    if (name.empty()) throw std::runtime_error("an item without a name");
    items[name] = reader.tensor();
  }
}
}  // namespace

Items unpack(const std::string& bytes) {
  Items items;
  read_items(bytes, items);
  return items;
}

Items unpack_as_far_as_it_goes(const std::string& bytes) {
  Items items;
  try {
    read_items(bytes, items);
  } catch (const std::runtime_error&) {
    return items;  // what was read whole
  }
  return items;
}

torch::Tensor scalar(double value) { return torch::full({}, value, torch::kFloat64); }

std::string text_of(const torch::Tensor& bytes) {
  return {static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()};
}

torch::Tensor bytes_of(const std::string& text) {
  auto bytes = torch::empty({static_cast<int64_t>(text.size())}, torch::kByte);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

std::string at(const std::string& what, size_t index) { return what + "." + std::to_string(index); }

bool has(const Items& items, const std::string& name) { return items.contains(name); }

double number(const Items& items, const std::string& name) { return items.at(name).item<double>(); }

void drop(Items& items, const std::string& prefix) {
  std::erase_if(items, [&](const auto& item) { return item.first.starts_with(prefix); });
}

Items model_of(const Trainer& trainer) {
  Items items;
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    items[at("weights", i)] = trainer.weights[i].value.detach().clone();
    const auto* state = state_of(trainer, i);
    if (state == nullptr) continue;
    items[at("exp_avg", i)] = state->exp_avg();
    items[at("exp_avg_sq", i)] = state->exp_avg_sq();
    items[at("step", i)] = scalar(static_cast<double>(state->step()));
  }
  return items;
}

void put_weights(Trainer& trainer, const Items& items) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    const auto saved = items.find(at("weights", i));
    if (saved != items.end()) trainer.weights[i].value.copy_(saved->second);
  }
}

void put_optimizer(Trainer& trainer, const Items& items) {
  auto& all = trainer.optimizer->state();
  all.clear();
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    if (!has(items, at("exp_avg", i))) continue;
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    state->exp_avg(items.at(at("exp_avg", i)).clone());
    state->exp_avg_sq(items.at(at("exp_avg_sq", i)).clone());
    state->step(static_cast<int64_t>(number(items, at("step", i))));
    all[trainer.weights[i].value.unsafeGetTensorImpl()] = std::move(state);
  }
}

void put_model(Trainer& trainer, const Items& items) {
  put_weights(trainer, items);
  put_optimizer(trainer, items);
}

Items scaler_of(const Trainer& trainer) {
  Items items{{"steps", scalar(static_cast<double>(trainer.schedule.steps))}};
  const auto state = trainer.scaler.state();
  if (!state) return items;
  items["scale"] = scalar(state->scale);
  items["growth_factor"] = scalar(state->growth_factor);
  items["backoff_factor"] = scalar(state->backoff_factor);
  items["growth_interval"] = scalar(static_cast<double>(state->growth_interval));
  items["growth_tracker"] = scalar(static_cast<double>(state->growth_tracker));
  return items;
}

void put_scaler(Trainer& trainer, const Items& items) {
  if (trainer.scaler.is_enabled()) {
    if (!has(items, "scale")) throw std::runtime_error("the scaler's state is empty");
    trainer.scaler.load_state(amp::GradScalerState{
        number(items, "scale"), number(items, "growth_factor"), number(items, "backoff_factor"),
        static_cast<int64_t>(number(items, "growth_interval")),
        static_cast<int64_t>(number(items, "growth_tracker"))});
    trainer.scaler.scale(torch::zeros({}));
  }
  trainer.schedule.steps = static_cast<int64_t>(number(items, "steps"));
}

Items random_of(const Trainer& trainer) {
  std::ostringstream generator;
  generator << trainer.order.generator;
  return {{"noise", trainer.noise.get_state()},
          {"generator", bytes_of(generator.str())},
          {"epoch", torch::tensor(trainer.order.epoch, torch::kInt64)},
          {"position", scalar(static_cast<double>(trainer.order.position))}};
}

void put_random(Trainer& trainer, const Items& items) {
  if (has(items, "noise")) trainer.noise.set_state(items.at("noise"));
  if (has(items, "generator")) {
    std::istringstream generator(text_of(items.at("generator")));
    generator >> trainer.order.generator;
  }
  if (has(items, "epoch")) {
    const auto& epoch = items.at("epoch");
    const auto* first = epoch.const_data_ptr<int64_t>();
    trainer.order.epoch.assign(first, first + epoch.numel());
  }
  if (has(items, "position")) {
    trainer.order.position = static_cast<int64_t>(number(items, "position"));
  }
}

Items window_of(const Trainer& trainer) {
  Items items{{"gathered", scalar(static_cast<double>(trainer.window.gathered))}};
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    const auto& gradient = trainer.weights[i].value.grad();
    if (gradient.defined()) items[at("gradient", i)] = gradient.clone();
  }
  return items;
}

void put_window(Trainer& trainer, const Items& items) {
  if (has(items, "gathered")) {
    trainer.window.gathered = static_cast<int64_t>(number(items, "gathered"));
  }
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    const auto saved = items.find(at("gradient", i));
    trainer.weights[i].value.mutable_grad() =
        saved == items.end() ? torch::Tensor() : saved->second;
  }
}

namespace {
std::map<std::string, std::string>& memory() {
  static std::map<std::string, std::string> all;
  return all;
}
}  // namespace

std::string keep(const std::string& bytes) {
  const auto number = std::to_string(memory().size());
  memory()[number] = bytes;
  return number;
}

const std::string* kept(const std::string& number) {
  const auto found = memory().find(number);
  return found == memory().end() ? nullptr : &found->second;
}

}  // namespace gradlab::resume_bugs
