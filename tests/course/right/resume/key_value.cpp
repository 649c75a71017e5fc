// A part is a map from words to bytes, and so is the file, whose values are the parts. The new file
// has a name that nobody else has.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {
namespace {

using Map = std::map<std::string, std::string>;

std::string flat(const Map& map) {
  std::ostringstream out;
  out << "map " << map.size() << '\n';
  for (const auto& [key, value] : map) {
    out << key.size() << ' ' << value.size() << '\n' << key << value << '\n';
  }
  return out.str() + "pam";
}

Map unflat(const std::string& bytes) {
  std::istringstream in(bytes);
  const auto broken = [] { return std::runtime_error("this is no whole map"); };
  std::string word;
  size_t count = 0;
  if (!(in >> word >> count) || word != "map") throw broken();
  Map map;
  while (count-- > 0) {
    size_t key_size = 0, value_size = 0;
    if (!(in >> key_size >> value_size) || key_size + value_size > bytes.size()) throw broken();
    std::string key(key_size, ' '), value(value_size, ' ');
    in.get();
    in.read(key.data(), static_cast<std::streamsize>(key_size));
    in.read(value.data(), static_cast<std::streamsize>(value_size));
    map.emplace(key, value);
  }
  if (!(in >> word) || word != "pam") throw broken();
  return map;
}

// A number, or the elements of a tensor, as its bytes.
template <typename T>
std::string raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string raw(const at::Tensor& t) {
  const auto row = t.detach().cpu().contiguous();
  return std::string(static_cast<const char*>(row.data_ptr()), row.nbytes());
}
template <typename T>
T number(const Map& map, const std::string& key) {
  T value;
  std::memcpy(&value, map.at(key).data(), sizeof value);
  return value;
}
at::Tensor tensor(const Map& map, const std::string& key, const at::Tensor& like) {
  auto t = at::empty(like.sizes(), like.options().requires_grad(false));
  std::memcpy(t.data_ptr(), map.at(key).data(), t.nbytes());
  return t;
}

using AdamWState = torch::optim::AdamWParamState;

}  // namespace

std::string save_model(const Trainer& trainer) {
  Map map;
  for (const auto& w : trainer.weights) {
    map[w.name] = raw(w.value);
    for (const auto& [key, state] : trainer.optimizer->state()) {
      if (key != w.value.unsafeGetTensorImpl()) continue;
      const auto& adamw = static_cast<const AdamWState&>(*state);
      map[w.name + " mean"] = raw(adamw.exp_avg());
      map[w.name + " variance"] = raw(adamw.exp_avg_sq());
      map[w.name + " step"] = raw(adamw.step());
    }
  }
  return flat(map);
}

void load_model(Trainer& trainer, const std::string& bytes) {
  const auto map = unflat(bytes);
  torch::NoGradGuard guard;
  for (auto& w : trainer.weights) {
    w.value.zero_().add_(tensor(map, w.name, w.value));
    auto& states = trainer.optimizer->state();
    states.erase(w.value.unsafeGetTensorImpl());
    if (!map.contains(w.name + " step")) continue;
    AdamWState adamw;
    adamw.step(number<int64_t>(map, w.name + " step"));
    adamw.exp_avg(tensor(map, w.name + " mean", w.value));
    adamw.exp_avg_sq(tensor(map, w.name + " variance", w.value));
    states[w.value.unsafeGetTensorImpl()] = std::make_unique<AdamWState>(adamw);
  }
}

std::string save_scaler(const Trainer& trainer) {
  Map map{{"steps", raw(trainer.schedule.steps)}};
  if (trainer.scaler.is_enabled()) {
    map["scale"] = raw(trainer.scaler.get_scale());
    map["growth"] = raw(trainer.scaler.get_growth_factor());
    map["backoff"] = raw(trainer.scaler.get_backoff_factor());
    map["interval"] = raw(trainer.scaler.get_growth_interval());
    map["tracker"] = raw(trainer.scaler.growth_tracker());
  }
  return flat(map);
}

void load_scaler(Trainer& trainer, const std::string& bytes) {
  const auto map = unflat(bytes);
  if (trainer.scaler.is_enabled()) {
    if (!map.contains("scale")) throw std::runtime_error("no scale was saved");
    trainer.scaler.load_state({{.scale = number<double>(map, "scale"),
                                .growth_factor = number<double>(map, "growth"),
                                .backoff_factor = number<double>(map, "backoff"),
                                .growth_interval = number<int64_t>(map, "interval"),
                                .growth_tracker = number<int64_t>(map, "tracker")}});
    trainer.scaler.scale(at::scalar_tensor(1.0));
  }
  trainer.schedule = Schedule{.steps = number<int64_t>(map, "steps")};
}

std::string save_random(const Trainer& trainer) {
  std::ostringstream twister;
  twister << trainer.order.generator;
  std::string epoch;
  for (const int64_t example : trainer.order.epoch) epoch += raw(example);
  return flat({{"noise", raw(trainer.noise.get_state())},
               {"twister", twister.str()},
               {"epoch", epoch},
               {"position", raw(trainer.order.position)}});
}

void load_random(Trainer& trainer, const std::string& bytes) {
  const auto map = unflat(bytes);
  trainer.noise.set_state(tensor(map, "noise", trainer.noise.get_state()));
  std::istringstream(map.at("twister")) >> trainer.order.generator;
  const auto& epoch = map.at("epoch");
  trainer.order.epoch.resize(epoch.size() / sizeof(int64_t));
  std::copy_n(epoch.data(), epoch.size(), reinterpret_cast<char*>(trainer.order.epoch.data()));
  trainer.order.position = number<int64_t>(map, "position");
}

std::string save_window(const Trainer& trainer) {
  Map map{{"", raw(trainer.window.gathered)}};
  for (const auto& w : trainer.weights) {
    if (w.value.grad().defined()) map[w.name] = raw(w.value.grad());
  }
  return flat(map);
}

void load_window(Trainer& trainer, const std::string& bytes) {
  const auto map = unflat(bytes);
  trainer.window.gathered = number<int64_t>(map, "");
  for (auto& w : trainer.weights) {
    w.value.mutable_grad() = map.count(w.name) != 0 ? tensor(map, w.name, w.value) : at::Tensor();
  }
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  Map file{{"model", save_model(trainer)},
           {"scaler", save_scaler(trainer)},
           {"random", save_random(trainer)},
           {"window", save_window(trainer)}};
  size_t i = 0;
  for (const auto& w : trainer.weights) {
    file["weight " + std::to_string(i++)] = w.name + " " + c10::str(w.value.sizes());
  }
  const auto bytes = flat(file);
  std::string name = path + ".XXXXXX";
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) throw std::runtime_error("cannot make a file beside " + path);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(descriptor, &bytes[done], bytes.size() - done);
    if (wrote <= 0) break;
    done += static_cast<size_t>(wrote);
  }
  fchmod(descriptor, 0644);
  const bool synced = fsync(descriptor) == 0;
  close(descriptor);
  if (done < bytes.size() || !synced || rename(name.c_str(), path.c_str()) != 0) {
    unlink(name.c_str());
    throw std::runtime_error("no whole file could be written: " + path);
  }
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) throw std::runtime_error("no file " + path);
  const auto file = unflat(std::string(std::istreambuf_iterator<char>(in), {}));
  for (const auto* key : {"model", "scaler", "random", "window"}) {
    if (!file.contains(key))
      throw std::runtime_error("no checkpoint: it has no " + std::string(key));
  }
  for (size_t i = 0;; ++i) {
    const auto found = file.find("weight " + std::to_string(i));
    if (i == trainer.weights.size()) {
      if (found == file.end()) break;
      throw std::runtime_error("the file also has " + found->second);
    }
    const auto mine = trainer.weights[i].name + " " + c10::str(trainer.weights[i].value.sizes());
    if (found == file.end() || found->second != mine) {
      throw std::runtime_error("the file does not have " + mine);
    }
  }
  load_scaler(trainer, file.at("scaler"));
  load_model(trainer, file.at("model"));
  load_random(trainer, file.at("random"));
  load_window(trainer, file.at("window"));
}

}  // namespace resume
