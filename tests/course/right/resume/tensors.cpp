// Each part is a list of tensors in a fixed order, saved by torch::save; the file is one more list,
// of the parts' bytes as tensors. Numbers are 0-dim tensors.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

using torch::Tensor;
using List = std::vector<Tensor>;

static std::string list_bytes(const List& list) {
  std::ostringstream out(std::ios::binary);
  torch::save(list, out);
  return out.str();
}
static List list_from(const std::string& bytes) {
  std::istringstream in(bytes, std::ios::binary);
  List list;
  torch::load(list, in);
  return list;
}
static Tensor text_tensor(const std::string& text) {
  Tensor t = torch::zeros({int64_t(text.size())}, torch::kInt8);
  if (!text.empty()) std::memcpy(t.data_ptr<int8_t>(), text.data(), text.size());
  return t;
}
static std::string tensor_text(const Tensor& t) {
  return {reinterpret_cast<const char*>(t.data_ptr<int8_t>()), size_t(t.numel())};
}

// The optimizer's state of a weight as three tensors; none of them where there is no state.
static List moments(const resume::Trainer& trainer, const Tensor& weight) {
  const auto& states = trainer.optimizer->state();
  const auto found = states.find(weight.unsafeGetTensorImpl());
  if (found == states.end()) return {};
  const auto& s = dynamic_cast<const torch::optim::AdamWParamState&>(*found->second);
  return {torch::tensor(s.step()), s.exp_avg().clone(), s.exp_avg_sq().clone()};
}

std::string resume::save_model(const Trainer& trainer) {
  List list;
  for (const auto& weight : trainer.weights) {
    const auto own = moments(trainer, weight.value);
    list.push_back(weight.value.detach());
    list.push_back(torch::tensor(!own.empty()));
    list.insert(list.end(), own.begin(), own.end());
  }
  return list_bytes(list);
}

void resume::load_model(Trainer& trainer, const std::string& bytes) {
  const auto list = list_from(bytes);
  auto next = list.begin();
  for (auto& weight : trainer.weights) {
    {
      torch::NoGradGuard no_grad;
      weight.value.copy_(*next++);
    }
    auto& slot = trainer.optimizer->state()[weight.value.unsafeGetTensorImpl()];
    if (!(*next++).item<bool>()) {
      trainer.optimizer->state().erase(weight.value.unsafeGetTensorImpl());
      continue;
    }
    auto s = std::make_unique<torch::optim::AdamWParamState>();
    s->step((*next++).item<int64_t>());
    s->exp_avg(*next++);
    s->exp_avg_sq(*next++);
    slot = std::move(s);
  }
}

std::string resume::save_scaler(const Trainer& trainer) {
  List list{torch::tensor(trainer.schedule.steps)};
  if (auto s = trainer.scaler.state(); s.has_value()) {
    list.push_back(torch::tensor({s->scale, s->growth_factor, s->backoff_factor}, torch::kDouble));
    list.push_back(torch::tensor({s->growth_interval, s->growth_tracker}, torch::kLong));
  }
  return list_bytes(list);
}

void resume::load_scaler(Trainer& trainer, const std::string& bytes) {
  const auto list = list_from(bytes);
  if (trainer.scaler.is_enabled() && list.size() == 1) {
    throw std::runtime_error("these bytes are of a disabled scaler");
  }
  if (list.size() > 1) {
    const auto numbers = list[1].accessor<double, 1>();
    const auto counts = list[2].accessor<int64_t, 1>();
    trainer.scaler.load_state(
        gradlab::amp::GradScalerState{numbers[0], numbers[1], numbers[2], counts[0], counts[1]});
  }
  trainer.scaler.scale(torch::zeros({2}));
  trainer.schedule.steps = list[0].item<int64_t>();
}

std::string resume::save_random(const Trainer& trainer) {
  std::ostringstream text;
  text << trainer.order.generator;
  return list_bytes({trainer.noise.get_state(), text_tensor(text.str()),
                     torch::tensor(trainer.order.epoch, torch::kLong),
                     torch::tensor(trainer.order.position)});
}

void resume::load_random(Trainer& trainer, const std::string& bytes) {
  const auto list = list_from(bytes);
  trainer.noise.set_state(list[0]);
  std::istringstream text(tensor_text(list[1]));
  text >> trainer.order.generator;
  trainer.order.epoch.clear();
  for (int64_t i = 0; i < list[2].numel(); ++i) {
    trainer.order.epoch.push_back(list[2][i].item<int64_t>());
  }
  trainer.order.position = list[3].item<int64_t>();
}

std::string resume::save_window(const Trainer& trainer) {
  List list{torch::tensor(trainer.window.gathered)};
  for (const auto& weight : trainer.weights) {
    if (auto gradient = weight.value.grad(); gradient.defined()) list.push_back(gradient);
  }
  return list_bytes(list);
}

void resume::load_window(Trainer& trainer, const std::string& bytes) {
  auto list = list_from(bytes);
  trainer.window.gathered = list[0].item<int64_t>();
  list.resize(trainer.weights.size() + 1);  // undefined ones at the end
  for (size_t i = 0; i < trainer.weights.size(); ++i) {
    trainer.weights[i].value.mutable_grad() = list[i + 1];
  }
}

static std::string model_text(const resume::Trainer& trainer) {
  std::ostringstream out;
  for (const auto& weight : trainer.weights) {
    out << weight.name << " " << weight.value.sizes() << std::endl;
  }
  return out.str();
}

void resume::save_checkpoint(const Trainer& trainer, const std::string& path) {
  const auto bytes =
      list_bytes({text_tensor("resume, first format"), text_tensor(model_text(trainer)),
                  text_tensor(save_model(trainer)), text_tensor(save_scaler(trainer)),
                  text_tensor(save_random(trainer)), text_tensor(save_window(trainer))});
  std::ofstream out(path + ".half", std::ios::binary);
  if (!out.write(bytes.data(), std::streamsize(bytes.size())) || !out.flush()) {
    throw std::runtime_error("cannot write beside " + path);
  }
  out.close();
  std::error_code code;
  std::filesystem::rename(path + ".half", path, code);
  if (code) throw std::runtime_error("cannot rename to " + path);
}

void resume::load_checkpoint(Trainer& trainer, const std::string& path) {
  List list;
  try {
    torch::load(list, path);
  } catch (...) {
    throw std::runtime_error("not readable as a list of tensors: " + path);
  }
  if (list.size() != 6 || list[0].scalar_type() != torch::kInt8 ||
      tensor_text(list[0]) != "resume, first format") {
    throw std::runtime_error("not of this program: " + path);
  }
  const auto here = model_text(trainer), there = tensor_text(list[1]);
  if (here != there) {
    std::istringstream a(here), b(there);
    std::string x, y;
    do {
      if (!std::getline(a, x)) x.clear();
      if (!std::getline(b, y)) y.clear();
    } while (x == y);
    throw std::runtime_error("another model: \"" + x + "\" here, \"" + y + "\" in " + path);
  }
  load_scaler(trainer, tensor_text(list[3]));
  load_model(trainer, tensor_text(list[2]));
  load_random(trainer, tensor_text(list[4]));
  load_window(trainer, tensor_text(list[5]));
}
