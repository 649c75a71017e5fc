#include "resume.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>

// Each part is described once, by a function that visits its fields; Out writes what it visits, In
// reads it.

namespace resume {

namespace {

struct Out {
  static constexpr bool kLoads = false;
  std::string bytes;

  void raw(const void* from, size_t size) { bytes.append(static_cast<const char*>(from), size); }
};

struct In {
  static constexpr bool kLoads = true;
  const char* at;
  const char* end;

  void raw(void* to, size_t size) {
    if (size > static_cast<size_t>(end - at)) throw std::runtime_error("checkpoint: cut short");
    if (size != 0) std::memcpy(to, at, size);
    at += size;
  }
  size_t left() const { return static_cast<size_t>(end - at); }
};

In in(const std::string& bytes) { return {bytes.data(), bytes.data() + bytes.size()}; }

template <class Archive, class T>
  requires std::is_trivially_copyable_v<T>
void field(Archive& archive, T& value) {
  archive.raw(&value, sizeof value);
}

template <class Archive>
void field(Archive& archive, std::string& value) {
  uint64_t size = value.size();
  field(archive, size);
  if constexpr (Archive::kLoads) {
    if (size > archive.left()) throw std::runtime_error("checkpoint: cut short");
    value.resize(size);
  }
  archive.raw(value.data(), size);
}

template <class Archive>
void field(Archive& archive, std::vector<int64_t>& value) {
  uint64_t size = value.size();
  field(archive, size);
  if constexpr (Archive::kLoads) {
    if (size > archive.left() / sizeof(int64_t)) throw std::runtime_error("checkpoint: cut short");
    value.resize(size);
  }
  archive.raw(value.data(), size * sizeof(int64_t));
}

// The elements only; `like` says how many.
template <class Archive>
void elements(Archive& archive, torch::Tensor& value, const torch::Tensor& like) {
  if constexpr (Archive::kLoads) {
    value = torch::empty(like.sizes(), like.scalar_type());
    archive.raw(value.data_ptr(), value.nbytes());
  } else {
    const auto dense = value.detach().contiguous();
    archive.raw(dense.data_ptr(), dense.nbytes());
  }
}

template <class Archive>
void model(Archive& archive, Trainer& trainer) {
  const torch::NoGradGuard no_grad;
  auto& states = trainer.optimizer->state();
  for (auto& [name, value] : trainer.weights) {
    torch::Tensor numbers = value;
    elements(archive, numbers, value);
    if constexpr (Archive::kLoads) value.copy_(numbers);

    void* const key = value.unsafeGetTensorImpl();
    char stepped = states.count(key) != 0;
    field(archive, stepped);
    if (!stepped) {
      if constexpr (Archive::kLoads) states.erase(key);
      continue;
    }
    if constexpr (Archive::kLoads) {
      states[key] = std::make_unique<torch::optim::AdamWParamState>();
    }
    auto& state = static_cast<torch::optim::AdamWParamState&>(*states.at(key));
    int64_t steps = Archive::kLoads ? 0 : state.step();
    auto first = state.exp_avg(), second = state.exp_avg_sq();
    field(archive, steps);
    elements(archive, first, value);
    elements(archive, second, value);
    if constexpr (Archive::kLoads) {
      state.step(steps);
      state.exp_avg(first);
      state.exp_avg_sq(second);
    }
  }
}

template <class Archive>
void random(Archive& archive, Trainer& trainer) {
  auto noise = trainer.noise.get_state();
  const auto like = noise;
  elements(archive, noise, like);
  if constexpr (Archive::kLoads) trainer.noise.set_state(noise);
  field(archive, trainer.order.generator);
  // What is left of the epoch is all that will be asked for.
  std::vector<int64_t> rest;
  if constexpr (!Archive::kLoads) {
    rest.assign(trainer.order.epoch.begin() + trainer.order.position, trainer.order.epoch.end());
  }
  field(archive, rest);
  if constexpr (Archive::kLoads) {
    trainer.order.epoch = std::move(rest);
    trainer.order.position = 0;
  }
}

template <class Archive>
void window(Archive& archive, Trainer& trainer) {
  field(archive, trainer.window.gathered);
  for (auto& [name, value] : trainer.weights) {
    auto& grad = value.mutable_grad();
    char some = trainer.window.gathered > 0 && grad.defined();
    field(archive, some);
    if constexpr (Archive::kLoads) grad.reset();
    if (some) elements(archive, grad, value);
  }
}

// Saving only reads.
Trainer& open(const Trainer& trainer) { return const_cast<Trainer&>(trainer); }

struct File {
  int fd = -1;
  std::string name;
  bool keep = false;
  ~File() {
    if (fd >= 0) ::close(fd);
    if (!keep) ::unlink(name.c_str());
  }
};

void must(bool good, const std::string& what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

uint64_t sum_of(const std::string& bytes) {
  uint64_t a = 1, b = 0;
  for (const char c : bytes) {
    a += static_cast<unsigned char>(c);
    b += a;
  }
  return a ^ (b << 20);
}

constexpr char kHead[] = "RESUME-1";

struct Contents {
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;
  std::string model, scaler, random, window;
};

template <class Archive>
void contents(Archive& archive, Contents& all) {
  uint64_t count = all.names.size();
  field(archive, count);
  if constexpr (Archive::kLoads) {
    if (count > archive.left()) throw std::runtime_error("checkpoint: cut short");
    all.names.resize(count);
    all.shapes.resize(count);
  }
  for (uint64_t i = 0; i < count; ++i) {
    field(archive, all.names[i]);
    field(archive, all.shapes[i]);
  }
  for (auto* part : {&all.model, &all.scaler, &all.random, &all.window}) field(archive, *part);
}

}  // namespace

std::string save_model(const Trainer& trainer) {
  Out out;
  model(out, open(trainer));
  return out.bytes;
}
void load_model(Trainer& trainer, const std::string& bytes) {
  auto from = in(bytes);
  model(from, trainer);
}

std::string save_scaler(const Trainer& trainer) {
  return std::to_string(trainer.schedule.steps) + '\n' + gradlab::amp::to_json(trainer.scaler);
}
void load_scaler(Trainer& trainer, const std::string& bytes) {
  const size_t line = bytes.find('\n');
  if (trainer.scaler.is_enabled()) {
    gradlab::amp::load_json(trainer.scaler, bytes.substr(line + 1));
    trainer.scaler.scale(trainer.weights.empty() ? torch::zeros({})
                                                 : trainer.weights[0].value.detach());
  }
  trainer.schedule.steps = std::stoll(bytes.substr(0, line));
}

std::string save_random(const Trainer& trainer) {
  Out out;
  random(out, open(trainer));
  return out.bytes;
}
void load_random(Trainer& trainer, const std::string& bytes) {
  auto from = in(bytes);
  random(from, trainer);
}

std::string save_window(const Trainer& trainer) {
  Out out;
  window(out, open(trainer));
  return out.bytes;
}
void load_window(Trainer& trainer, const std::string& bytes) {
  auto from = in(bytes);
  window(from, trainer);
}

void save_checkpoint(const Trainer& trainer, const std::string& path) {
  Contents all{{}, {}, save_model(trainer), save_scaler(trainer), save_random(trainer),
               save_window(trainer)};
  for (const auto& [name, value] : trainer.weights) {
    all.names.push_back(name);
    all.shapes.push_back(value.sizes().vec());
  }
  Out body;
  contents(body, all);
  uint64_t sum = sum_of(body.bytes);
  Out whole;
  whole.raw(kHead, 8);
  field(whole, sum);
  field(whole, body.bytes);

  File file{-1, path + ".XXXXXX"};
  file.fd = ::mkstemp(file.name.data());
  must(file.fd >= 0, "mkstemp " + file.name);
  ::fchmod(file.fd, 0644);
  for (size_t done = 0; done < whole.bytes.size();) {
    const auto wrote = ::write(file.fd, whole.bytes.data() + done, whole.bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    must(wrote > 0, "write " + file.name);
    done += static_cast<size_t>(wrote);
  }
  must(::fsync(file.fd) == 0, "fsync " + file.name);
  must(::close(std::exchange(file.fd, -1)) == 0, "close " + file.name);
  must(::rename(file.name.c_str(), path.c_str()) == 0, "rename to " + path);
  file.keep = true;
}

void load_checkpoint(Trainer& trainer, const std::string& path) {
  std::string bytes;
  {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    must(fd >= 0, "open " + path);
    char block[1 << 16];
    ssize_t got = 0;
    while ((got = ::read(fd, block, sizeof block)) > 0 || (got < 0 && errno == EINTR)) {
      if (got > 0) bytes.append(block, static_cast<size_t>(got));
    }
    const int error = errno;
    ::close(fd);
    errno = error;
    must(got == 0, "read " + path);
  }
  auto whole = in(bytes);
  char head[8];
  uint64_t sum = 0;
  std::string inner;
  whole.raw(head, 8);
  if (std::memcmp(head, kHead, 8) != 0) throw std::runtime_error(path + ": not a checkpoint");
  field(whole, sum);
  field(whole, inner);
  if (whole.left() != 0 || sum != sum_of(inner)) throw std::runtime_error(path + ": damaged");
  Contents all;
  auto body = in(inner);
  contents(body, all);

  size_t i = 0;
  while (i < trainer.weights.size() && i < all.names.size() &&
         trainer.weights[i].name == all.names[i] &&
         trainer.weights[i].value.sizes() == at::IntArrayRef(all.shapes[i])) {
    ++i;
  }
  if (i < trainer.weights.size()) {
    throw std::runtime_error(trainer.weights[i].name + ": not so in the checkpoint");
  }
  if (i < all.names.size()) {
    throw std::runtime_error(all.names[i] + ": in the checkpoint only");
  }

  load_scaler(trainer, all.scaler);
  load_model(trainer, all.model);
  load_random(trainer, all.random);
  load_window(trainer, all.window);
}

}  // namespace resume
