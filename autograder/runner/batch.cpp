#include "runner/batch.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <iostream>
#include <new>
#include <string_view>

#include "gradlab/todo.hpp"
#include "runner/clean_thread.hpp"

namespace gradlab {
namespace {

std::string type_name(const std::exception& error) {
  int status = 0;
  char* name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : "an exception";
  free(name);
  return text;
}

int64_t process_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

Observation out_of_memory() {
  Observation seen;
  seen.fault = Fault::kMemoryLimit;
  return seen;
}

// What a hand-in left where a gradient should be may be nothing that can be sent: that is its
// answer's fault, so it is told as one.
protocol::Frame frame_of(const Observation& seen) {
  try {
    return seen.to_frame();
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (what.find("DefaultCPUAllocator") != std::string::npos) return out_of_memory().to_frame();
    Observation instead;
    instead.threw = "nothing, and left what cannot be compared: " + first_sentence(what);
    return instead.to_frame();
  }
}

}  // namespace

protocol::Frame Batch::to_frame() const {
  protocol::Frame frame;
  frame.head = {{"batch", id}, {"experiment", experiment}, {"cases", nlohmann::json::array()}};
  for (const auto& in : cases) {
    nlohmann::json head;
    std::string body;
    in.write(head, body);
    head["from"] = frame.body.size();
    head["size"] = body.size();
    frame.head["cases"].push_back(std::move(head));
    frame.body += body;
  }
  return frame;
}

Batch Batch::from_frame(const protocol::Frame& frame) {
  Batch batch;
  batch.id = frame.head.at("batch").get<int64_t>();
  batch.experiment = frame.head.at("experiment").get<std::string>();
  for (const auto& head : frame.head.at("cases")) {
    const auto from = head.at("from").get<size_t>();
    const auto size = head.at("size").get<size_t>();
    batch.cases.push_back(Case::read(head, frame.body.substr(from, size)));
  }
  return batch;
}

Observation run_case(const Experiment& experiment, const void* impl, const Case& in) {
  const CleanThread clean;
  try {
    return experiment(impl, in);
  } catch (const NotStarted& missing) {
    Observation seen;
    seen.fault = Fault::kNotStarted;
    seen.task = missing.task;
    return seen;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (what.find("DefaultCPUAllocator") != std::string::npos) return out_of_memory();
    Observation seen;
    seen.threw = fmt::format("{}: {}", type_name(error), first_sentence(what));
    return seen;
  } catch (...) {
    Observation seen;
    seen.threw = "something that is not a std::exception";
    return seen;
  }
}

void answer(const Batch& batch, const void* impl, int channel, Progress* progress) {
  const auto& experiment = lab().experiments.at(batch.experiment);
  for (size_t i = 0; i < batch.cases.size(); ++i) {
    if (progress != nullptr) progress->case_started_cpu_ns = process_cpu_ns();
    auto frame = frame_of(run_case(experiment, impl, batch.cases[i]));
    frame.head["batch"] = batch.id;
    frame.head["case"] = i;
    // What was printed must be in the pipe before the answer is: that is how the judge tells which
    // case printed it.
    std::cout.flush();
    std::fflush(nullptr);
    if (!protocol::write_frame(channel, frame)) return;
  }
}

}  // namespace gradlab
