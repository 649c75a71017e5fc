#include "resume.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace resume {

namespace {

class Writer {
 public:
  template <typename T>
  Writer& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& text(const std::string& value) {
    put<uint64_t>(value.size());
    out_ += value;
    return *this;
  }
  Writer& tensor(const torch::Tensor& value) {
    const auto flat = value.detach().contiguous();
    put<uint64_t>(static_cast<uint64_t>(flat.nbytes()));
    out_.append(static_cast<const char*>(flat.data_ptr()), flat.nbytes());
    return *this;
  }
  std::string done() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  template <typename T>
  T get() {
    T value{};
    need(sizeof value);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const auto size = get<uint64_t>();
    need(size);
    std::string value = bytes_.substr(at_, size);
    at_ += size;
    return value;
  }
  torch::Tensor tensor(const torch::Tensor& like) {
    auto value = torch::empty_like(like.detach(), torch::MemoryFormat::Contiguous);
    const auto size = get<uint64_t>();
    need(size);
    if (size != value.nbytes()) throw std::runtime_error("a tensor of another size");
    std::memcpy(value.data_ptr(), bytes_.data() + at_, size);
    at_ += size;
    return value;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  void need(uint64_t size) const {
    if (size > bytes_.size() - at_) throw std::runtime_error("the checkpoint is cut short");
  }
  const std::string& bytes_;
  size_t at_ = 0;
};

uint64_t hash_of(const std::string& bytes) {
  uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char c : bytes) hash = (hash ^ c) * 1099511628211ULL;
  return hash;
}

constexpr uint64_t kMagic = 0x31504b4342414c47ULL;

}  // namespace

std::string save_model(const Trainer& trainer) {
  Writer out;
  for (const Weight& weight : trainer.weights) {
    out.tensor(weight.value);
    const auto found = trainer.optimizer->state().find(weight.value.unsafeGetTensorImpl());
    const bool has_state = found != trainer.optimizer->state().end();
    out.put(has_state);
    if (!has_state) continue;
    const auto& state = static_cast<const torch::optim::AdamWParamState&>(*found->second);
    out.put<int64_t>(state.step());
    out.tensor(state.exp_avg());
    out.tensor(state.exp_avg_sq());
  }
  return out.done();
}

void load_model(Trainer& trainer, const std::string& bytes) {
  torch::NoGradGuard no_grad;
  Reader in(bytes);
  trainer.optimizer->state().clear();
  for (Weight& weight : trainer.weights) {
    weight.value.copy_(in.tensor(weight.value));
    if (!in.get<bool>()) continue;
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    state->step(in.get<int64_t>());
    state->exp_avg(in.tensor(weight.value));
    state->exp_avg_sq(in.tensor(weight.value));
    trainer.optimizer->state()[weight.value.unsafeGetTensorImpl()] = std::move(state);
  }
}

std::string save_scaler(const Trainer& trainer) {
  Writer out;
  out.put<int64_t>(trainer.schedule.steps);
  const auto state = trainer.scaler.state();
  out.put(state.has_value());
  if (state) {
    out.put(state->scale).put(state->growth_factor).put(state->backoff_factor);
    out.put(state->growth_interval).put(state->growth_tracker);
  }
  return out.done();
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  Reader in(bytes);
  const auto steps = in.get<int64_t>();
  std::optional<gradlab::amp::GradScalerState> state;
  if (in.get<bool>()) {
    state.emplace();
    state->scale = in.get<double>();
    state->growth_factor = in.get<double>();
    state->backoff_factor = in.get<double>();
    state->growth_interval = in.get<int64_t>();
    state->growth_tracker = in.get<int64_t>();
  }
  if (trainer.scaler.is_enabled()) {
    trainer.scaler.load_state(state);
    trainer.scaler.scale(torch::zeros({}));
  }
  trainer.schedule.steps = steps;
}

std::string save_random(const Trainer& trainer) {
  std::ostringstream generator;
  generator << trainer.order.generator;
  Writer out;
  out.tensor(trainer.noise.get_state()).text(generator.str());
  out.put<int64_t>(trainer.order.position);
  out.put<uint64_t>(trainer.order.epoch.size());
  for (const int64_t example : trainer.order.epoch) out.put<int64_t>(example);
  return out.done();
}

void load_random(Trainer& trainer, const std::string& bytes) {
  Reader in(bytes);
  trainer.noise.set_state(in.tensor(trainer.noise.get_state()));
  std::istringstream generator(in.text());
  generator >> trainer.order.generator;
  trainer.order.position = in.get<int64_t>();
  trainer.order.epoch.resize(in.get<uint64_t>());
  for (int64_t& example : trainer.order.epoch) example = in.get<int64_t>();
}

std::string save_window(const Trainer& trainer) {
  Writer out;
  out.put<int64_t>(trainer.window.gathered);
  for (const Weight& weight : trainer.weights) {
    const auto& grad = weight.value.grad();
    const bool some = trainer.window.gathered > 0 && grad.defined();
    out.put(some);
    if (some) out.tensor(grad);
  }
  return out.done();
}

void load_window(Trainer& trainer, const std::string& bytes) {
  Reader in(bytes);
  trainer.window.gathered = in.get<int64_t>();
  for (Weight& weight : trainer.weights) {
    torch::Tensor grad;
    if (in.get<bool>()) grad = in.tensor(weight.value);
    weight.value.mutable_grad() = grad;
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  Writer body;
  body.put<uint64_t>(trainer.weights.size());
  for (const Weight& weight : trainer.weights) {
    body.text(weight.name);
    body.put<uint64_t>(static_cast<uint64_t>(weight.value.dim()));
    for (const int64_t size : weight.value.sizes()) body.put<int64_t>(size);
  }
  body.text(save_model(trainer)).text(save_scaler(trainer));
  body.text(save_random(trainer)).text(save_window(trainer));
  const std::string bytes = body.done();

  Writer file;
  file.put(kMagic).put(hash_of(bytes)).text(bytes);
  const std::string all = file.done();

  const std::string beside = path + ".new";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out.write(all.data(), static_cast<std::streamsize>(all.size()));
  out.close();
  if (!out) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw std::runtime_error("cannot write " + beside);
  }
  std::filesystem::copy_file(beside, path, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(beside);
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("no checkpoint at " + path);
  std::ostringstream content;
  content << in.rdbuf();
  const std::string all = content.str();

  Reader file(all);
  if (file.get<uint64_t>() != kMagic) throw std::runtime_error(path + " is no checkpoint");
  const auto hash = file.get<uint64_t>();
  const std::string bytes = file.text();
  if (!file.at_end() || hash_of(bytes) != hash) {
    throw std::runtime_error(path + " is damaged");
  }

  Reader body(bytes);
  const auto count = body.get<uint64_t>();
  std::vector<std::pair<std::string, std::vector<int64_t>>> saved(count);
  for (auto& [name, shape] : saved) {
    name = body.text();
    shape.resize(body.get<uint64_t>());
    for (int64_t& size : shape) size = body.get<int64_t>();
  }
  for (size_t i = 0; i < std::max(saved.size(), trainer.weights.size()); ++i) {
    if (i >= trainer.weights.size()) {
      throw std::runtime_error(saved[i].first + " is in the file only");
    }
    const Weight& weight = trainer.weights[i];
    if (i >= saved.size() || saved[i].first != weight.name ||
        saved[i].second != weight.value.sizes().vec()) {
      throw std::runtime_error(weight.name + " differs from what the file holds");
    }
  }
  const auto model = body.text(), scaler = body.text(), random = body.text(),
             window = body.text();
  load_scaler(trainer, scaler);
  load_model(trainer, model);
  load_random(trainer, random);
  load_window(trainer, window);
}

}  // namespace resume
