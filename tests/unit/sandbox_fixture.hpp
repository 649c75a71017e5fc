// What the sandbox tests share: a small command, the isolations to try, and a second run of a whole
// test program as an ordinary user.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sandbox/sandbox.hpp"
#include "temp_folder.hpp"

namespace gradlab::sandbox {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder of this test that other users may enter.
class Folder : public gradlab::testing::TempFolder {
 public:
  Folder() { fs::permissions(path(), fs::perms(0755)); }
  std::string operator/(const std::string& name) const { return (path() / name).string(); }
};

inline Command bash(const std::string& script) {
  Command command;
  command.argv = {"/usr/bin/bash", "-c", script};
  command.limits.wall_seconds = 10;
  command.limits.cpu_seconds = 5;
  return command;
}

inline double since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// Runs `body` in a forked child; its exit status.
template <typename Body>
int in_child(Body body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Numbers of processes whose command line holds `mark`.
inline int count_processes(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::stringstream text;
    text << file.rdbuf();
    const std::string line = text.str();
    if (line.find(mark) != std::string::npos && line.find("gtest") == std::string::npos) ++count;
  }
  return count;
}

// What this user can have: container is root's.
inline std::vector<Isolation> confined() {
  if (geteuid() != 0) return {Isolation::kFull};
  return {Isolation::kFull, Isolation::kContainer};
}
inline std::vector<Isolation> all_isolations() {
  std::vector<Isolation> all = confined();
  all.push_back(Isolation::kNone);
  return all;
}
inline std::string name_of(const ::testing::TestParamInfo<Isolation>& param) {
  return to_string(param.param);
}

inline std::string why_not(Isolation isolation) {
  if (isolation == Isolation::kContainer) return probe_container();
  return isolation == Isolation::kFull ? probe().why_not_full : "";
}

class Box : public ::testing::TestWithParam<Isolation> {
 protected:
  void SetUp() override {
    if (!why_not(GetParam()).empty()) GTEST_SKIP() << why_not(GetParam());
  }
  static Result run_box(const Command& command) { return run(command, GetParam()); }
  // A path of the box as the command has to write it.
  static std::string in_box(const Command& command, const std::string& path) {
    return path_inside(command, GetParam(), path);
  }
};

// The same for what isolation none does not promise.
class Confined : public Box {};

class FullBox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (probe().best != Isolation::kFull) {
      GTEST_SKIP() << probe().why_not_full << "\n" << probe().remedy;
    }
  }
  static Result run_full(const Command& command) { return run(command, Isolation::kFull); }
};

// Runs this test program again under another uid, from a copy, since the build folder may be out of
// that user's reach.
inline void expect_the_same_as_ordinary_user() {
  if (geteuid() != 0) GTEST_SKIP() << "we are one";
  Folder folder;
  fs::permissions(folder.path(), fs::perms::all);
  fs::copy_file("/proc/self/exe", folder / "again_test");
  fs::permissions(folder / "again_test", fs::perms(0755));
  Command command;
  command.argv = {
      "/usr/bin/setpriv",    "--reuid",        "65534", "--regid", "65534", "--clear-groups",
      folder / "again_test", "--gtest_brief=1"};
  command.environment = {{"TMPDIR", folder.path().string()}};
  command.working_directory = folder.path().string();
  command.limits.wall_seconds = 100;
  command.limits.cpu_seconds = 60;
  command.limits.address_space = 16384 * kMiB;
  const Result result = run(command, Isolation::kNone);
  EXPECT_EQ(result.ending, Ending::kExited) << result.why;
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("SKIPPED TEST"))) << result.output;
}

}  // namespace gradlab::sandbox
