#include "resume.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace resume {

static void write_floats(std::ostream& out, const torch::Tensor& t) {
  const torch::Tensor flat = t.detach().contiguous().view(-1);
  const float* p = flat.data_ptr<float>();
  out << std::setprecision(std::numeric_limits<float>::digits10);
  for (int64_t i = 0; i < flat.numel(); i++) out << p[i] << ' ';
  out << '\n';
}

static torch::Tensor read_floats(std::istream& in, const torch::Tensor& like) {
  torch::Tensor t = torch::empty(like.sizes(), torch::kFloat32);
  float* p = t.data_ptr<float>();
  for (int64_t i = 0; i < t.numel(); i++) {
    std::string word;
    in >> word;
    p[i] = std::strtof(word.c_str(), nullptr);
  }
  return t;
}

static void write_part(std::ostream& out, const std::string& part) {
  out << part.size() << '\n' << part << '\n';
}

static std::string read_part(std::istream& in) {
  size_t size = 0;
  if (!(in >> size) || in.get() != '\n' || size > (size_t{1} << 40)) {
    throw std::runtime_error("not a checkpoint, or a damaged one");
  }
  std::string part;
  char buffer[4096];
  while (part.size() < size) {
    in.read(buffer, static_cast<std::streamsize>(std::min(sizeof buffer, size - part.size())));
    if (in.gcount() == 0) throw std::runtime_error("the checkpoint ends too early");
    part.append(buffer, static_cast<size_t>(in.gcount()));
  }
  if (in.get() != '\n') throw std::runtime_error("the checkpoint is damaged");
  return part;
}

std::string save_model(const Trainer& trainer) {
  std::ostringstream out;
  auto& states = trainer.optimizer->state();
  for (size_t i = 0; i < trainer.weights.size(); i++) {
    const torch::Tensor& w = trainer.weights[i].value;
    write_floats(out, w);
    auto it = states.find(w.unsafeGetTensorImpl());
    if (it == states.end()) {
      out << "fresh\n";
    } else {
      auto* s = static_cast<torch::optim::AdamWParamState*>(it->second.get());
      out << "stepped " << s->step() << '\n';
      write_floats(out, s->exp_avg());
      write_floats(out, s->exp_avg_sq());
    }
  }
  return out.str();
}

void load_model(Trainer& trainer, const std::string& bytes) {
  torch::NoGradGuard guard;
  std::istringstream in(bytes);
  auto& states = trainer.optimizer->state();
  for (size_t i = 0; i < trainer.weights.size(); i++) {
    torch::Tensor& w = trainer.weights[i].value;
    w.copy_(read_floats(in, w));
    std::string word;
    in >> word;
    states.erase(w.unsafeGetTensorImpl());
    if (word == "stepped") {
      int64_t step;
      in >> step;
      auto s = std::make_unique<torch::optim::AdamWParamState>();
      s->step(step);
      s->exp_avg(read_floats(in, w));
      s->exp_avg_sq(read_floats(in, w));
      states[w.unsafeGetTensorImpl()] = std::move(s);
    }
  }
}

std::string save_scaler(const Trainer& trainer) {
  std::ostringstream out;
  out << std::setprecision(17) << trainer.schedule.steps;
  if (auto s = trainer.scaler.state()) {
    out << " on " << s->scale << ' ' << s->growth_factor << ' ' << s->backoff_factor << ' '
        << s->growth_interval << ' ' << s->growth_tracker;
  } else {
    out << " off";
  }
  return out.str();
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  int64_t steps;
  std::string word;
  in >> steps >> word;
  if (trainer.scaler.is_enabled()) {
    if (word == "off") throw std::runtime_error("this run was saved without loss scaling");
    gradlab::amp::GradScalerState s;
    in >> s.scale >> s.growth_factor >> s.backoff_factor >> s.growth_interval >> s.growth_tracker;
    trainer.scaler.load_state(s);
    trainer.scaler.scale(torch::ones({}));
  }
  trainer.schedule.steps = steps;
}

std::string save_random(const Trainer& trainer) {
  std::ostringstream out;
  const torch::Tensor state = trainer.noise.get_state();
  out << state.numel();
  for (int64_t i = 0; i < state.numel(); i++) out << ' ' << int(state.data_ptr<uint8_t>()[i]);
  out << '\n' << trainer.order.generator << '\n';
  out << trainer.order.position << ' ' << trainer.order.epoch.size();
  for (int64_t e : trainer.order.epoch) out << ' ' << e;
  return out.str();
}

void load_random(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  int64_t n;
  in >> n;
  torch::Tensor state = torch::empty({n}, torch::kByte);
  for (int64_t i = 0; i < n; i++) {
    int value;
    in >> value;
    state.data_ptr<uint8_t>()[i] = static_cast<uint8_t>(value);
  }
  trainer.noise.set_state(state);
  in >> trainer.order.generator;
  size_t count;
  in >> trainer.order.position >> count;
  trainer.order.epoch.clear();
  for (size_t i = 0; i < count; i++) {
    int64_t e;
    in >> e;
    trainer.order.epoch.push_back(e);
  }
}

std::string save_window(const Trainer& trainer) {
  std::ostringstream out;
  out << trainer.window.gathered << '\n';
  if (trainer.window.gathered == 0) return out.str();
  for (const Weight& w : trainer.weights) {
    if (w.value.grad().defined()) {
      out << "grad ";
      write_floats(out, w.value.grad());
    } else {
      out << "none ";
    }
  }
  return out.str();
}

void load_window(Trainer& trainer, const std::string& bytes) {
  std::istringstream in(bytes);
  in >> trainer.window.gathered;
  for (Weight& w : trainer.weights) {
    w.value.mutable_grad().reset();
    std::string word;
    if (trainer.window.gathered > 0 && in >> word && word == "grad") {
      w.value.mutable_grad() = read_floats(in, w.value);
    }
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  const std::string tmp = path + ".tmp";
  {
    std::ofstream out(tmp, std::ios::binary);
    out << "gradlab-checkpoint\n" << trainer.weights.size() << '\n';
    for (const Weight& w : trainer.weights) {
      write_part(out, w.name);
      out << w.value.dim();
      for (int64_t s : w.value.sizes()) out << ' ' << s;
      out << '\n';
    }
    write_part(out, save_model(trainer));
    write_part(out, save_scaler(trainer));
    write_part(out, save_random(trainer));
    write_part(out, save_window(trainer));
    out << "end\n";
    out.close();
    if (out.fail()) {
      std::error_code ec;
      std::filesystem::remove(tmp, ec);
      throw std::runtime_error("could not write the checkpoint " + path);
    }
  }
  std::filesystem::rename(tmp, path);
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (!in || !std::getline(in, line) || line != "gradlab-checkpoint") {
    throw std::runtime_error("no checkpoint: " + path);
  }
  size_t count = 0;
  if (!(in >> count) || count > 1000000) throw std::runtime_error("damaged: " + path);
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;
  for (size_t i = 0; i < count; i++) {
    names.push_back(read_part(in));
    size_t dim = 0;
    if (!(in >> dim) || dim > 64) throw std::runtime_error("damaged: " + path);
    std::vector<int64_t> shape(dim);
    for (int64_t& s : shape) in >> s;
    shapes.push_back(shape);
  }
  const std::string model = read_part(in);
  const std::string scaler = read_part(in);
  const std::string random = read_part(in);
  const std::string window = read_part(in);
  char tail[5] = {};
  in.read(tail, 4);
  if (std::string(tail) != "end\n" || in.peek() != EOF) {
    throw std::runtime_error("damaged: " + path);
  }

  for (size_t i = 0; i < trainer.weights.size(); i++) {
    const Weight& w = trainer.weights[i];
    if (i >= count || names[i] != w.name || w.value.sizes() != at::IntArrayRef(shapes[i])) {
      throw std::runtime_error(w.name + " is not the same in the file");
    }
  }
  if (count > trainer.weights.size()) {
    throw std::runtime_error(names[trainer.weights.size()] + " is only in the file");
  }

  load_scaler(trainer, scaler);
  load_model(trainer, model);
  load_random(trainer, random);
  load_window(trainer, window);
}

}  // namespace resume
