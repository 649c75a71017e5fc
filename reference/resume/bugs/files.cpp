// What the mistakes of task 5 write and read with.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "common.hpp"

namespace gradlab::resume_bugs {

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_all(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

void replace_file(const std::string& path, const std::string& bytes) {
  write_all(path + ".new", bytes);
  std::filesystem::rename(path + ".new", path);  // its error is a std::runtime_error
}

std::string names_of(const Trainer& trainer) {
  std::string names;
  for (const auto& weight : trainer.weights) {
    names += weight.name + " " + c10::str(weight.value.sizes()) + "\n";
  }
  return names;
}

Items file_of(const Trainer& trainer, const std::vector<std::string>& parts) {
  Items items{{"names", bytes_of(names_of(trainer))}};
  for (size_t i = 0; i < parts.size(); ++i) items[kParts[i]] = bytes_of(parts[i]);
  return items;
}

void require_same_weights(const Trainer& trainer, const std::string& names) {
  std::istringstream here(names_of(trainer)), there(names);
  std::string ours, theirs;
  for (;;) {
    const bool more_here = static_cast<bool>(std::getline(here, ours));
    const bool more_there = static_cast<bool>(std::getline(there, theirs));
    if (!more_here && !more_there) return;
    if (!more_here) throw std::runtime_error("the file has one more weight, " + theirs);
    if (!more_there) throw std::runtime_error("the file ends before weight " + ours);
    if (ours != theirs) throw std::runtime_error("expected " + ours + ", the file has " + theirs);
  }
}

std::string part_in(const Items& file, const std::string& part) { return text_of(file.at(part)); }

}  // namespace gradlab::resume_bugs
