// The program of `gradlab debug`: one recorded case, one process, no sandbox, the student's file
// linked in. It prints what came beside what was expected, and leaves the rest to the debugger.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <fstream>

#include "gradlab/todo.hpp"
#include "protocol/tensors.hpp"
#include "runner/lab.hpp"

extern "C" void gradlab_fill_table(void* impl);

namespace {

using namespace gradlab;

void print_observation(const Observation& seen) {
  for (const auto& [name, value] : seen.all_numbers()) fmt::print("  {} = {}\n", name, value);
  for (const auto& [name, word] : seen.all_words()) fmt::print("  {} = {}\n", name, word);
  for (const auto& [name, list] : seen.all_tensors()) {
    for (size_t i = 0; i < list.size(); ++i) {
      std::string text = list[i].defined() ? protocol::to_json(list[i])["data"].dump() : "none";
      if (text.size() > 200) text = text.substr(0, 200) + " …";
      fmt::print("  {}[{}] = {}\n", name, i, text);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} CASE.json\n", argv[0]);
    return 2;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed before a crash is not to be lost
  at::set_num_threads(1);
  std::ifstream file(argv[1]);
  const auto failing = nlohmann::json::parse(file);
  const auto& recorded = failing.at("case");
  const Case in = Case::from_json(recorded.at("input"));
  const auto impl = lab().empty_impl();
  gradlab_fill_table(impl.get());
  const auto& experiment = lab().experiments.at(recorded.at("experiment").get<std::string>());
  try {
    const auto seen = experiment(impl.get(), in);
    fmt::print("what can be seen afterwards:\n");
    print_observation(seen);
  } catch (const NotStarted& missing) {
    fmt::print("  not started: {}\n", missing.task);
  }
  fmt::print("expected at {}: {}\n", failing.at("place").get<std::string>(),
             failing.at("expected").get<std::string>());
  return 0;
}
