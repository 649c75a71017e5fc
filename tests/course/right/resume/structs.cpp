// Plain structs copied as they lie in memory, the twister by its state as words, everything behind
// a table of contents; the file's length and a sum are in its head.
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "resume.hpp"

namespace resume {
namespace {

class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string from) : all_(std::move(from)) {}

  template <typename Plain>
  void put(const Plain& value) {
    static_assert(std::is_trivially_copyable_v<Plain>);
    all_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_floats(const torch::Tensor& tensor) {
    const auto row = tensor.detach().contiguous();
    all_.append(reinterpret_cast<const char*>(row.const_data_ptr<float>()), row.nbytes());
  }
  template <typename Plain>
  Plain get() {
    Plain value;
    if (at_ + sizeof value > all_.size()) throw std::runtime_error("too few bytes");
    std::memcpy(&value, all_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  // As many as the tensor has.
  void get_floats(torch::Tensor to) {
    if (at_ + to.nbytes() > all_.size()) throw std::runtime_error("too few bytes");
    std::memcpy(to.data_ptr<float>(), all_.data() + at_, to.nbytes());
    at_ += to.nbytes();
  }
  const std::string& all() const { return all_; }

 private:
  std::string all_;
  size_t at_ = 0;
};

struct Scale {
  bool enabled;
  gradlab::amp::GradScalerState state;
  int64_t steps;
};

struct Head {
  std::array<char, 8> magic;
  uint64_t sizes[5];
  uint64_t sum;
};
constexpr std::array<char, 8> kMagic{'R', 'E', 'S', 'U', 'M', 'E', '0', '1'};

uint64_t sum_of(const std::string& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{7},
                         [](uint64_t sum, char c) { return sum * 31 + static_cast<uint8_t>(c); });
}

torch::optim::AdamWParamState& make_state(Trainer& trainer, const torch::Tensor& weight) {
  auto state = std::make_unique<torch::optim::AdamWParamState>();
  auto& made = *state;
  made.exp_avg(torch::empty_like(weight.detach()));
  made.exp_avg_sq(torch::empty_like(weight.detach()));
  trainer.optimizer->state().insert_or_assign(weight.unsafeGetTensorImpl(), std::move(state));
  return made;
}

}  // namespace

std::string save_model(const Trainer& trainer) {
  Bytes out;
  for (const auto& value : trainer.values()) {
    out.put_floats(value);
    const auto& states = trainer.optimizer->state();
    const auto found = states.find(value.unsafeGetTensorImpl());
    if (found == states.end()) {
      out.put(int64_t{0});
      continue;
    }
    const auto* state = static_cast<const torch::optim::AdamWParamState*>(found->second.get());
    out.put(state->step());
    out.put_floats(state->exp_avg());
    out.put_floats(state->exp_avg_sq());
  }
  return out.all();
}

void load_model(Trainer& trainer, const std::string& bytes) {
  Bytes in(bytes);
  trainer.optimizer->state() = {};
  for (const auto& value : trainer.values()) {
    in.get_floats(value);
    if (const auto step = in.get<int64_t>(); step > 0) {
      auto& state = make_state(trainer, value);
      state.step(step);
      in.get_floats(state.exp_avg());
      in.get_floats(state.exp_avg_sq());
    }
  }
}

std::string save_scaler(const Trainer& trainer) {
  const auto state = trainer.scaler.state();
  Bytes out;
  out.put(Scale{state.has_value(), state.value_or(gradlab::amp::GradScalerState{}),
                trainer.schedule.steps});
  return out.all();
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  const auto scale = Bytes(bytes).get<Scale>();
  const bool wanted = trainer.scaler.is_enabled();
  if (wanted && !scale.enabled) throw std::runtime_error("the saved scaler was disabled");
  if (wanted) {
    static_cast<void>(trainer.scaler.scale(torch::zeros({})));
    trainer.scaler.load_state(scale.state);
  }
  trainer.schedule.steps = scale.steps;
}

std::string save_random(const Trainer& trainer) {
  Bytes out;
  const auto noise = trainer.noise.get_state();
  for (int64_t i = 0; i < noise.numel(); ++i) out.put(noise.const_data_ptr<uint8_t>()[i]);
  std::stringstream words;
  words << trainer.order.generator;
  for (uint64_t word; words >> word;) out.put(word);
  out.put(trainer.order.position);
  for (const auto example : trainer.order.epoch) out.put(example);
  return out.all();
}

void load_random(Trainer& trainer, const std::string& bytes) {
  constexpr size_t kWords = std::mt19937_64::state_size + 1;  // and how many were drawn
  Bytes in(bytes);
  auto noise = trainer.noise.get_state();  // one of the right size
  for (int64_t i = 0; i < noise.numel(); ++i) noise.data_ptr<uint8_t>()[i] = in.get<uint8_t>();
  trainer.noise.set_state(noise);
  std::stringstream words;
  for (size_t i = 0; i < kWords; ++i) words << in.get<uint64_t>() << ' ';
  words >> trainer.order.generator;
  trainer.order.position = in.get<int64_t>();
  const auto used = static_cast<size_t>(noise.numel()) + 8 * (kWords + 1);
  trainer.order.epoch.clear();
  for (size_t at = used; at < bytes.size(); at += 8) {
    trainer.order.epoch.push_back(in.get<int64_t>());
  }
}

std::string save_window(const Trainer& trainer) {
  Bytes out;
  out.put(trainer.window.gathered);
  for (const auto& value : trainer.values()) {
    if (trainer.window.gathered > 0) out.put_floats(value.grad());
  }
  return out.all();
}

void load_window(Trainer& trainer, const std::string& bytes) {
  Bytes in(bytes);
  trainer.window.gathered = in.get<int64_t>();
  trainer.optimizer->zero_grad(/*set_to_none=*/true);
  if (trainer.window.gathered == 0) return;
  for (auto value : trainer.values()) {
    value.mutable_grad() = torch::zeros_like(value.detach());
    in.get_floats(value.grad());
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  std::string names;
  for (const auto& w : trainer.weights) names += w.name + c10::str(w.value.sizes()) + '\n';
  const std::string parts[] = {names, save_model(trainer), save_scaler(trainer),
                               save_random(trainer), save_window(trainer)};
  Head head{kMagic, {}, 0};
  std::string body;
  for (int i = 0; i < 5; ++i) {
    head.sizes[i] = parts[i].size();
    body += parts[i];
  }
  head.sum = sum_of(body);
  const auto draft = path + ".draft";
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&head), sizeof head);
  file << body;
  file.close();
  if (file.fail()) throw std::runtime_error("writing " + draft + " failed");
  std::filesystem::rename(draft, path);
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  if (missing) throw std::runtime_error(path + ": " + missing.message());
  Head head{};
  if (size < sizeof head) throw std::runtime_error(path + ": too short");
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  std::string body(size - sizeof head, '\0');
  file.read(body.data(), static_cast<std::streamsize>(body.size()));
  const auto told = std::accumulate(std::begin(head.sizes), std::end(head.sizes), uint64_t{0});
  if (!file || head.magic != kMagic || told != body.size() || head.sum != sum_of(body)) {
    throw std::runtime_error(path + ": not one of our checkpoints, or damaged");
  }
  std::string parts[5];
  for (size_t i = 0, at = 0; i < 5; at += head.sizes[i++])
    parts[i] = body.substr(at, head.sizes[i]);

  std::istringstream names(parts[0]);
  std::string line;
  for (const auto& w : trainer.weights) {
    std::getline(names, line);
    if (!names || line != w.name + c10::str(w.value.sizes())) {
      throw std::runtime_error(path + " has another " + w.name);
    }
  }
  if (std::getline(names, line)) throw std::runtime_error(path + " has too much: " + line);
  load_scaler(trainer, parts[2]);
  load_model(trainer, parts[1]);
  load_random(trainer, parts[3]);
  load_window(trainer, parts[4]);
}

}  // namespace resume
