// One archive for the whole file, with an archive for each part in it: the parts' functions write
// into archives, and the strings of tasks 1 to 4 are made of the same functions.
#include <filesystem>
#include <fstream>
#include <gradlab/amp/state.hpp>
#include <sstream>
#include <stdexcept>

#include "resume.hpp"

namespace resume {

using In = torch::serialize::InputArchive;
using Out = torch::serialize::OutputArchive;

namespace {

std::string weight_key(size_t i) { return "weight " + std::to_string(i); }

void write_model(const Trainer& t, Out& out) {
  for (size_t i = 0; i < t.weights.size(); ++i) {
    out.write(weight_key(i), t.weights[i].value.detach(), /*is_buffer=*/true);
  }
  Out moments(out.compilation_unit());
  t.optimizer->save(moments);
  out.write("moments", moments);
}
void read_model(Trainer& t, In& in) {
  In moments;
  in.read("moments", moments);
  t.optimizer->state().clear();
  t.optimizer->load(moments);
  at::AutoGradMode off(false);
  for (size_t i = 0; i < t.weights.size(); ++i) {
    at::Tensor saved;
    in.read(weight_key(i), saved, true);
    t.weights[i].value.copy_(saved);
  }
}

void write_scaler(const Trainer& t, Out& out) {
  out << t.scaler;
  out.write("schedule", c10::IValue(t.schedule.steps));
}
void read_scaler(Trainer& t, In& in) {
  c10::IValue steps;
  in.read("schedule", steps);
  in >> t.scaler;
  if (!t.scaler.is_initialised()) t.scaler.scale(at::zeros({}));
  t.schedule.steps = steps.toInt();
}

void write_random(const Trainer& t, Out& out) {
  std::ostringstream words;
  words << t.order.generator;
  out.write("words", c10::IValue(words.str()));
  out.write("noise", t.noise.get_state(), true);
  c10::List<int64_t> epoch;
  for (auto e : t.order.epoch) epoch.push_back(e);
  out.write("epoch", c10::IValue(epoch));
  out.write("position", c10::IValue(t.order.position));
}
void read_random(Trainer& t, In& in) {
  c10::IValue words, epoch, position;
  at::Tensor noise;
  in.read("words", words);
  in.read("epoch", epoch);
  in.read("position", position);
  in.read("noise", noise, true);
  std::istringstream stream(words.toStringRef());
  stream >> t.order.generator;
  t.order.epoch = epoch.toIntVector();
  t.order.position = position.toInt();
  t.noise.set_state(noise);
}

void write_window(const Trainer& t, Out& out) {
  out.write("count", c10::IValue(t.window.gathered));
  if (t.window.gathered == 0) return;
  for (size_t i = 0; i < t.weights.size(); ++i) {
    out.write(weight_key(i), t.weights[i].value.grad(), true);
  }
}
void read_window(Trainer& t, In& in) {
  c10::IValue count;
  in.read("count", count);
  t.window.gathered = count.toInt();
  for (size_t i = 0; i < t.weights.size(); ++i) {
    at::Tensor gradient;
    if (t.window.gathered > 0) in.read(weight_key(i), gradient, true);
    t.weights[i].value.mutable_grad() = gradient;
  }
}

template <void (*write)(const Trainer&, Out&)>
std::string to_string(const Trainer& t) {
  Out out;
  write(t, out);
  std::ostringstream stream;
  out.save_to(stream);
  return stream.str();
}
template <void (*read)(Trainer&, In&)>
void from_string(Trainer& t, const std::string& bytes) {
  std::istringstream stream(bytes);
  In in;
  in.load_from(stream);
  read(t, in);
}

}  // namespace

std::string save_model(const Trainer& t) { return to_string<write_model>(t); }
void load_model(Trainer& t, const std::string& bytes) { from_string<read_model>(t, bytes); }
std::string save_scaler(const Trainer& t) { return to_string<write_scaler>(t); }
void load_scaler(Trainer& t, const std::string& bytes) { from_string<read_scaler>(t, bytes); }
std::string save_random(const Trainer& t) { return to_string<write_random>(t); }
void load_random(Trainer& t, const std::string& bytes) { from_string<read_random>(t, bytes); }
std::string save_window(const Trainer& t) { return to_string<write_window>(t); }
void load_window(Trainer& t, const std::string& bytes) { from_string<read_window>(t, bytes); }

void save_checkpoint(const Trainer& t, const std::string& path) {
  Out all;
  void (*const writers[])(const Trainer&, Out&) = {write_model, write_scaler, write_random,
                                                   write_window};
  int part = 0;
  for (const auto writer : writers) {
    Out one(all.compilation_unit());
    writer(t, one);
    all.write("part " + std::to_string(part++), one);
  }
  c10::List<std::string> names;
  for (const auto& weight : t.weights) {
    names.push_back(weight.name + " " + c10::str(weight.value.sizes()));
  }
  all.write("weights", c10::IValue(names));
  std::ostringstream stream;
  all.save_to(stream);
  const auto bytes = stream.str();

  const std::string beside = path + ".part";
  {
    std::ofstream file(beside, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::error_code ignored;
  if (std::filesystem::file_size(beside, ignored) != bytes.size()) {  // the disk is full
    std::filesystem::remove(beside, ignored);
    throw std::runtime_error("only a part of " + path + " could be written");
  }
  std::filesystem::rename(beside, path);
}

void load_checkpoint(Trainer& t, const std::string& path) {
  In parts[4];
  c10::IValue names;
  try {
    In all;
    all.load_from(path);
    all.read("weights", names);
    for (int i = 0; i < 4; ++i) all.read("part " + std::to_string(i), parts[i]);
  } catch (const c10::Error& error) {
    throw std::runtime_error(path + " cannot be read: " + error.what_without_backtrace());
  }
  const auto saved = names.toList();
  for (size_t i = 0; i < t.weights.size() || i < saved.size(); ++i) {
    const auto theirs = i < saved.size() ? saved.get(i).toStringRef() : std::string();
    const auto ours = i < t.weights.size()
                          ? t.weights[i].name + " " + c10::str(t.weights[i].value.sizes())
                          : std::string();
    if (ours == theirs) continue;
    if (ours.empty()) throw std::runtime_error("unexpected: " + theirs);
    if (theirs.empty()) throw std::runtime_error("missing: " + ours);
    throw std::runtime_error("expected " + ours + " and found " + theirs);
  }
  read_scaler(t, parts[1]);
  read_model(t, parts[0]);
  read_random(t, parts[2]);
  read_window(t, parts[3]);
}

}  // namespace resume
