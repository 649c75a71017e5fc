#include "experiments/resume/elsewhere.hpp"

#include <c10/util/Type.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gradlab/todo.hpp>
#include <iostream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#include "protocol/observation.hpp"

namespace gradlab::resume_runs {
namespace {

constexpr size_t kMostBytes = 16u << 20;  // of an answer
constexpr rlim_t kCpuSeconds = 3;

// The first byte of what a child sends.
enum Tag : char { kReturned = 'r', kNotStarted = 'n', kThrew = 't', kOutOfMemory = 'm' };

std::string outcome_of(const std::function<std::string()>& body) {
  const auto tagged = [](Tag tag, const std::string& text) { return std::string(1, tag) + text; };
  try {
    return tagged(kReturned, body());
  } catch (const NotStarted& missing) {
    return tagged(kNotStarted, missing.task);
  } catch (const std::bad_alloc&) {
    return tagged(kOutOfMemory, "");
  } catch (const std::exception& error) {
    return tagged(kThrew,
                  c10::demangle(typeid(error).name()) + ": " + first_sentence(error.what()));
  } catch (...) {
    return tagged(kThrew, "something that is not a std::exception");
  }
}

void set_limit(decltype(RLIMIT_CPU) which, rlim_t value) {
  rlimit limit{};
  getrlimit(which, &limit);
  limit.rlim_cur = std::min(value, limit.rlim_max);
  setrlimit(which, &limit);
}

[[noreturn]] void be_the_child(int channel, const std::function<std::string()>& body,
                               const std::optional<FileLimit>& limit) {
  set_limit(RLIMIT_CPU, kCpuSeconds);
  set_limit(RLIMIT_CORE, 0);
  if (limit) {
    signal(SIGXFSZ, limit->kills ? SIG_DFL : SIG_IGN);
    set_limit(RLIMIT_FSIZE, limit->bytes);
  }
  const auto outcome = outcome_of(body);
  std::cout.flush();
  std::fflush(nullptr);
  for (size_t sent = 0; sent < outcome.size();) {
    const auto count = write(channel, outcome.data() + sent, outcome.size() - sent);
    if (count <= 0) break;
    sent += static_cast<size_t>(count);
  }
  _exit(0);
}

std::string read_all(int channel) {
  std::string all;
  char buffer[65536];
  ssize_t count = 0;
  while ((count = read(channel, buffer, sizeof buffer)) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || all.size() > kMostBytes) break;
    all.append(buffer, static_cast<size_t>(count));
  }
  return all;
}

// As the child ended, so does this process.
[[noreturn]] void end_likewise(int status) {
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

std::optional<std::string> in_another_process(const std::function<std::string()>& body,
                                              const std::optional<FileLimit>& limit) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::cout.flush();
  std::fflush(nullptr);  // or the child writes it once more
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_the_child(ends[1], body, limit);
  }
  close(ends[1]);
  const auto outcome = child > 0 ? read_all(ends[0]) : std::string();
  close(ends[0]);
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (limit && limit->kills && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) return {};
  if (outcome.empty()) end_likewise(status);
  auto text = outcome.substr(1);
  switch (outcome.front()) {
    case kReturned:
      return text;
    case kNotStarted:
      throw NotStarted{text};
    case kOutOfMemory:
      throw std::bad_alloc();
    default:
      throw std::runtime_error("in the process that saves: " + text);
  }
}

Folder::Folder() {
  auto name = (std::filesystem::temp_directory_path() / "resume-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
  }
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;  // what is left lies in the box's own /tmp
  std::filesystem::remove_all(path_, ignored);
}

std::optional<std::string> bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("the experiment could not write " + path);
}

}  // namespace gradlab::resume_runs
