#include "sandbox/promises.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sandbox/landlock.hpp"
#include "sandbox/scene.hpp"

namespace gradlab::sandbox {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProgram = "/box/trial";
constexpr const char* kDone = "tried\n";  // the program's last line; before it, what it reached

struct Boxed {
  Isolation isolation;
  std::string program;
  const Scene& scene;

  Result run(const std::vector<std::string>& words, const Limits& limits) const {
    Command command;
    command.mounts = {{program, kProgram}};
    command.argv = {path_inside(command, isolation, kProgram)};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.limits = limits;
    return sandbox::run(command, isolation);
  }
  Result run(const std::vector<std::string>& words) const { return run(words, small()); }

  static Limits small() {
    Limits limits;
    limits.wall_seconds = 10;
    limits.cpu_seconds = 2;
    limits.address_space = 512 * kMiB;
    limits.file_size = kMiB;
    limits.tmpfs = 4 * kMiB;
    limits.open_files = 64;
    return limits;
  }
};

// Empty when the program came to its end and reached nothing.
std::string reached(const Result& result) {
  if (result.output == kDone) return "";
  std::string text = result.output.substr(0, result.output.rfind(kDone));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) c = c == '\n' ? ';' : c;
  if (!text.empty()) return text.substr(0, 300);
  return result.why.empty() ? fmt::format("the trial itself ended with {}", result.code)
                            : result.why;
}

std::string stopped_by(const Result& result, Ending wanted, const char* otherwise) {
  if (result.ending == wanted) return "";
  return result.ending == Ending::kNotStarted ? result.why : otherwise;
}

// What is left of a box, told by a word on its command line.
std::string left_running(const std::string& mark) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "cmdline");
    std::stringstream line;
    line << file.rdbuf();
    if (line.str().find(mark) == std::string::npos) continue;
    kill(std::atoi(entry.path().filename().c_str()), SIGKILL);
    return "a process was left running";
  }
  return "";
}

std::string try_signals(const Boxed& box) {
  const std::string told = reached(box.run({"signals", box.scene.process()}));
  return box.scene.process_lives() ? told : "a process of another was killed";
}

std::string try_daemon(const Boxed& box) {
  const std::string mark = fmt::format("gradlab-daemon-{}", getpid());
  const Result result = box.run({"daemon", mark});
  const std::string left = left_running(mark);
  return left.empty() ? reached(result) : left;
}

std::string try_temporary(const Boxed& box) {
  const std::string first = reached(box.run({"temporary"}));
  return first.empty() ? reached(box.run({"temporary"})) : first;
}

std::string try_cpu(const Boxed& box) {
  Limits limits = Boxed::small();
  limits.cpu_seconds = 1;
  return stopped_by(box.run({"burn"}, limits), Ending::kTimeLimit, "it went on");
}

std::string try_output(const Boxed& box) {
  return stopped_by(box.run({"flood"}), Ending::kOutputLimit, "it all came");
}

// FILE, PROCESS and HOST in a trial's words stand for the scene's.
std::string in_scene(const std::string& word, const Scene& scene) {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  if (word == "FILE") return scene.file();
  if (word == "PROCESS") return scene.process();
  return word == "HOST" ? name : word;
}

std::string try_words(const Boxed& box, const char* trial) {
  std::vector<std::string> words;
  std::istringstream text(trial);
  for (std::string word; text >> word;) words.push_back(in_scene(word, box.scene));
  return reached(box.run(words));
}

constexpr int kAny = 1;
constexpr int kNever = 1000;

struct Promise {
  const char* words;
  int by_container;  // from this version of Landlock on
  bool by_none;
  const char* trial;  // of sandbox_trial; or else:
  std::string (*try_it)(const Boxed& box) = nullptr;
};

const Promise kPromises[] = {
    {"files of the machine cannot be read", kAny, false,
     "read FILE /etc/passwd /etc /home /dev/shm /proc/self/maps /proc/1/status"},
    {"nothing can be written outside", kAny, false,
     "write FILE /usr/new /var/tmp/new /dev/shm/new /new"},
    {"nothing outside can be emptied", 3, false, "empty FILE"},
    {"no network, no sockets of any kind", kAny, false, "sockets"},
    {"processes of others cannot be signalled", kAny, false, nullptr, try_signals},
    {"the number of processes is bounded", kAny, false, "forks 32"},
    {"memory is bounded", kAny, true, "memory"},
    {"CPU time is bounded", kAny, true, nullptr, try_cpu},
    {"the size of a file is bounded", kAny, true, "large_file"},
    {"open files are bounded", kAny, true, "open_files 64"},
    {"output is bounded", kAny, true, nullptr, try_output},
    {"no capabilities, and no way to get any", kAny, false, "capabilities"},
    {"no new user namespaces, no mounts", kAny, false, "namespaces"},
    {"no tracing of processes", kAny, false, "trace"},
    {"no keys, io_uring, bpf or userfaultfd", kAny, false, "kernel"},
    {"no shared memory that outlives it", kAny, false, "shared_memory"},
    {"all of it is dead after the end", kAny, false, nullptr, try_daemon},
    {"the environment is empty", kAny, true, "environment"},
    {"all descriptors are closed", kAny, true, "descriptors"},
    {"its own temporary files, none at first", kAny, false, nullptr, try_temporary},
    {"its temporary files are bounded together", kNever, false, "many_files"},
    {"files of the machine cannot be seen", kNever, false, "see FILE /etc/passwd"},
    {"processes of others cannot be seen", kNever, false, "see_process PROCESS"},
    {"real paths of files are hidden", kNever, false, "path"},
    {"the machine's name is hidden", kNever, false, "hostname HOST"},
};

bool is_promised(const Promise& promise, Isolation isolation) {
  if (isolation == Isolation::kFull) return true;
  return isolation == Isolation::kContainer ? landlock_abi() >= promise.by_container
                                            : promise.by_none;
}

}  // namespace

std::vector<std::string> promises() {
  std::vector<std::string> all;
  for (const Promise& promise : kPromises) all.emplace_back(promise.words);
  return all;
}

std::vector<Tried> try_promises(Isolation isolation, const std::string& program, bool all) {
  const Scene scene;
  const Boxed box{isolation, program, scene};
  std::vector<Tried> tried;
  for (const Promise& promise : kPromises) {
    Tried one{promise.words, Kept::kNotPromised, ""};
    const bool also = all && isolation != Isolation::kNone;
    if (also || is_promised(promise, isolation)) {
      one.why = promise.trial ? try_words(box, promise.trial) : promise.try_it(box);
      one.kept = one.why.empty() ? Kept::kKept : Kept::kBroken;
    }
    tried.push_back(std::move(one));
  }
  return tried;
}

}  // namespace gradlab::sandbox
