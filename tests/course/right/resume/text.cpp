// Everything is text: words and hexadecimal numbers, which hold every bit. The file ends in a line
// that says so.
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {
namespace {

std::string hex(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);  // "inf" and "nan" too
  return text;
}
double number(std::istream& in) {
  std::string word;
  in >> word;
  return std::strtod(word.c_str(), nullptr);
}

void put(std::ostream& out, const torch::Tensor& tensor) {
  const auto flat = tensor.detach().flatten().to(torch::kFloat64);
  out << flat.numel();
  for (int64_t i = 0; i < flat.numel(); ++i) out << ' ' << hex(flat[i].item<double>());
  out << '\n';
}
// Values for a tensor of that shape; a float comes back from a double as it was.
torch::Tensor get(std::istream& in, const torch::Tensor& like) {
  int64_t count = 0;
  in >> count;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(number(in));
  return torch::tensor(values, torch::kFloat64).to(torch::kFloat32).view(like.sizes());
}

torch::optim::AdamWParamState* state_of(const Trainer& t, const torch::Tensor& weight) {
  auto& all = t.optimizer->state();
  auto found = all.find(weight.unsafeGetTensorImpl());
  if (found == all.end()) return nullptr;
  return dynamic_cast<torch::optim::AdamWParamState*>(found->second.get());
}

}  // namespace

std::string save_model(const Trainer& trainer) {
  std::ostringstream out;
  for (const auto& weight : trainer.weights) {
    put(out, weight.value);
    if (auto* state = state_of(trainer, weight.value)) {
      out << "known " << state->step() << '\n';
      put(out, state->exp_avg());
      put(out, state->exp_avg_sq());
    } else {
      out << "new\n";
    }
  }
  return out.str();
}

void load_model(Trainer& trainer, const std::string& bytes) {
  const at::NoGradGuard off;
  std::istringstream in(bytes);
  trainer.optimizer->state().clear();
  for (auto& weight : trainer.weights) {
    weight.value.copy_(get(in, weight.value));
    std::string word;
    in >> word;
    if (word == "new") continue;
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    int64_t step = 0;
    in >> step;
    state->step(step);
    state->exp_avg(get(in, weight.value));
    state->exp_avg_sq(get(in, weight.value));
    trainer.optimizer->state()[weight.value.unsafeGetTensorImpl()] = std::move(state);
  }
}

std::string save_scaler(const Trainer& trainer) {
  std::ostringstream out;
  out << trainer.schedule.steps << ' ';
  const auto s = trainer.scaler.state();
  if (!s) return out.str() + "disabled";
  out << "enabled " << hex(s->scale) << ' ' << hex(s->growth_factor) << ' '
      << hex(s->backoff_factor) << ' ' << s->growth_interval << ' ' << s->growth_tracker;
  return out.str();
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  int64_t steps = 0;
  std::string word;
  in >> steps >> word;
  if (trainer.scaler.is_enabled()) {
    if (word != "enabled") throw std::runtime_error("a disabled scaler has no state to load");
    gradlab::amp::GradScalerState s;
    s.scale = number(in);
    s.growth_factor = number(in);
    s.backoff_factor = number(in);
    in >> s.growth_interval >> s.growth_tracker;
    if (!trainer.scaler.is_initialised()) trainer.scaler.scale(torch::zeros({1}));
    trainer.scaler.load_state(s);
  }
  trainer.schedule.steps = steps;
}

std::string save_random(const Trainer& trainer) {
  std::ostringstream out;
  out << trainer.order.generator << '\n' << trainer.order.position << '\n';
  out << trainer.order.epoch.size();
  for (const int64_t example : trainer.order.epoch) out << ' ' << example;
  const auto noise = trainer.noise.get_state();
  out << '\n' << noise.numel();
  for (int64_t i = 0; i < noise.numel(); ++i) out << ' ' << int(noise.data_ptr<uint8_t>()[i]);
  return out.str();
}

void load_random(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  DataOrder order;
  size_t count = 0;
  in >> order.generator >> order.position >> count;
  for (order.epoch.resize(count); auto& example : order.epoch) in >> example;
  trainer.order = order;
  int64_t size = 0;
  in >> size;
  auto noise = torch::empty({size}, torch::kByte);
  for (int64_t i = 0, byte = 0; i < size; ++i) {
    in >> byte;
    noise.data_ptr<uint8_t>()[i] = static_cast<uint8_t>(byte);
  }
  trainer.noise.set_state(noise);
}

std::string save_window(const Trainer& trainer) {
  std::ostringstream out;
  out << trainer.window.gathered;
  for (const auto& weight : trainer.weights) {
    out << ' ' << weight.value.grad().defined() << ' ';
    if (weight.value.grad().defined()) put(out, weight.value.grad());
  }
  return out.str();
}

void load_window(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  in >> trainer.window.gathered;
  for (auto& weight : trainer.weights) {
    bool there = false;
    in >> there;
    if (there) {
      weight.value.mutable_grad() = get(in, weight.value).clone();
    } else {
      weight.value.mutable_grad().reset();
    }
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  std::ostringstream all;
  for (const auto& weight : trainer.weights) {
    all << "weight " << weight.name << ' ' << weight.value.sizes() << '\n';
  }
  for (const auto& part :
       {save_model(trainer), save_scaler(trainer), save_random(trainer), save_window(trainer)}) {
    all << "part " << part.size() << '\n' << part << '\n';
  }
  all << "end of checkpoint\n";
  const std::filesystem::path target = path;
  auto scratch = target;
  scratch += ".writing";
  std::ofstream out(scratch);
  out << all.str() << std::flush;
  const bool written = out.good();
  out.close();
  std::error_code error;
  if (written && out) std::filesystem::rename(scratch, target, error);
  if (!written || !out || error) throw std::runtime_error("could not write " + path);
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::ifstream file(path);
  std::stringstream in;
  in << file.rdbuf();
  const std::string text = in.str(), end = "end of checkpoint\n";
  if (!file || text.size() < end.size() || !text.starts_with("weight ") || !text.ends_with(end)) {
    throw std::runtime_error(path + " is not a whole checkpoint");
  }
  std::vector<std::string> here, there, parts;
  for (const auto& weight : trainer.weights) {
    std::ostringstream line;
    line << "weight " << weight.name << ' ' << weight.value.sizes();
    here.push_back(line.str());
  }
  for (std::string line; std::getline(in, line) && line + "\n" != end;) {
    if (line.starts_with("weight ")) {
      there.push_back(line);
    } else {
      std::string part(std::stoul(line.substr(5)), ' ');
      in.read(part.data(), static_cast<std::streamsize>(part.size()));
      parts.push_back(part);
      in.get();
    }
  }
  const auto [a, b] = std::mismatch(here.begin(), here.end(), there.begin(), there.end());
  if (a != here.end()) throw std::runtime_error("not in the file: " + *a);
  if (b != there.end()) throw std::runtime_error("only in the file: " + *b);
  load_scaler(trainer, parts.at(1));
  load_model(trainer, parts.at(0));
  load_random(trainer, parts.at(2));
  load_window(trainer, parts.at(3));
}

}  // namespace resume
