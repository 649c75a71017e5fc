// The cache of precompiled headers: what makes a new one, what mends one, and that two processes
// can want the same at once. And the toolchain file, whose faults are told before anything is
// built.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <vector>

#include "compile_fixture.hpp"

namespace gradlab::compile {
namespace {

class Header : public OwnTree {};

const std::string kUsesTorch =
    "#include \"tiny.hpp\"\nint tiny::twice(int x) { return Torch{x}.x * 2; }\n";

TEST_F(Header, is_built_once_and_found_again) {
  if (!tools_.clang) GTEST_SKIP() << "g++ names its file otherwise";
  EXPECT_FALSE(compiler().prepared(lab_));
  compiler().prepare(lab_);
  EXPECT_TRUE(compiler().prepared(lab_));
  const ino_t first = number_of(file());
  EXPECT_NE(first, 0u);
  compiler().prepare(lab_);
  EXPECT_EQ(number_of(file()), first);
  EXPECT_EQ(compile(kUsesTorch)->compiled.outcome, Compiled::kOk);
}

TEST_F(Header, has_to_be_prepared_before_a_compile) {
  EXPECT_THAT(
      gradlab::testing::message_of<CompileError>([&] { build(compiler(), lab_, "int x;\n"); }),
      HasSubstr("is not there"));
}

TEST_F(Header, a_new_one_for_everything_that_goes_into_it) {
  using Change = std::function<void()>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"LibTorch's version", [&] { tools_.torch_version = "9.9.9"; }},
      {"LibTorch's place", [&] { tools_.torch += "/../torch"; }},
      {"LibTorch's build", [&] { folder_.write("torch/lib/libtorch_cpu.so", "new"); }},
      {"the compiler's version", [&] { tools_.compiler_version += " patched"; }},
      {"flags", [&] { tools_.clang = !tools_.clang; }},
      {"isolation",
       [&] { isolation_ = isolation_ == Isolation::kNone ? Isolation::kFull : Isolation::kNone; }},
      {"precompiled", [&] { lab_.precompiled = {}; }},
      {"forbidden headers", [&] { lab_.forbidden_headers.emplace_back("torch/a.h"); }},
      {"forbidden names", [&] { lab_.forbidden_names.emplace_back("another"); }},
      {"the contract",
       [&] { folder_.write("labs/tiny/tiny.hpp", "namespace tiny { int twice(int); }\n"); }},
      {"common headers",
       [&] { folder_.write("labs/common/gradlab/todo.hpp", "#pragma once\n// new\n"); }},
      {"what is instantiated",
       [&] { folder_.write("autograder/compile/instantiate/types.hpp", "// new\n"); }},
      {"a mask", [&] { folder_.write("autograder/compile/masks/torch__types_forbidden.h", ""); }},
  };
  for (const auto& [what, change] : changes) {
    const std::string before = place();
    EXPECT_EQ(before, place()) << what;
    change();
    EXPECT_NE(before, place()) << what;
  }
}

TEST_F(Header, a_damaged_one_is_built_anew) {
  compiler().prepare(lab_);
  fs::resize_file(file(), fs::file_size(file()) / 2);
  EXPECT_EQ(compile(kUsesTorch)->compiled.outcome, Compiled::kOk);
  folder_.write(fs::path(file()).lexically_relative(folder_.path()), "no precompiled header");
  EXPECT_EQ(compile(kUsesTorch)->compiled.outcome, Compiled::kOk);
}

// A hand-in may print the words that blame the header: it costs one look, no build.
TEST_F(Header, a_hand_in_cannot_have_it_built_anew) {
  compiler().prepare(lab_);
  const ino_t first = number_of(file());
  const auto built = compile("#error malformed or corrupted AST file\n");
  EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError);
  EXPECT_EQ(number_of(file()), first);
}

TEST_F(Header, one_that_does_not_build_is_a_fault_of_the_lab_and_leaves_nothing) {
  folder_.write("labs/tiny/tiny.hpp", "this is no C++\n");
  EXPECT_THAT(gradlab::testing::message_of<CompileError>([&] { compiler().prepare(lab_); }),
              AllOf(HasSubstr("lab tiny does not build"), HasSubstr("tiny.hpp")));
  EXPECT_FALSE(compiler().prepared(lab_));
}

TEST_F(Header, two_processes_at_once_build_one) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    try {
      const bool good = compile(kUsesTorch)->compiled.outcome == Compiled::kOk;
      folder_.write("number" + std::to_string(i), std::to_string(number_of(file())));
      _exit(good ? 0 : 1);
    } catch (...) {
      _exit(2);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::string number = std::to_string(number_of(file()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gradlab::testing::read_text(folder_.path() / ("number" + std::to_string(i))), number);
  }
}

TEST_F(Header, those_that_nobody_uses_make_room) {
  const auto old = folder_.path() / "cache/0123456789abcdef";
  const auto recent = folder_.path() / "cache/fedcba9876543210";
  fs::create_directories(old);
  fs::create_directories(recent);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(24 * 40));
  compiler().prepare(lab_);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(recent));
}

TEST_F(Header, a_cache_that_cannot_be_written_is_named) {
  folder_.write("file", "");
  tools_.cache = folder_.path() / "file";
  EXPECT_THAT(gradlab::testing::message_of<CompileError>([&] { compiler().prepare(lab_); }),
              HasSubstr("cannot be written"));
}

class ToolchainFile : public ::testing::Test {
 protected:
  std::string complaint(const std::string& text) {
    folder_.write(".gradlab/toolchain", text);
    return gradlab::testing::message_of<CompileError>([&] { read_toolchain(folder_.path()); });
  }
  TempFolder folder_;
};

TEST_F(ToolchainFile, says_what_is_wrong_and_what_to_do) {
  EXPECT_THAT(gradlab::testing::message_of<CompileError>([&] { read_toolchain(folder_.path()); }),
              AllOf(HasSubstr("not set up"), HasSubstr("./gradlab setup")));
  EXPECT_THAT(complaint("TORCH=/x\n"), HasSubstr("no TORCH_VERSION= line"));
  EXPECT_THAT(complaint("TORCH=/x\nTORCH_VERSION=2.11.0\nCOMPILER=/no/clang\n"),
              HasSubstr("/no/clang is gone"));
  EXPECT_THAT(complaint("TORCH=/x\nTORCH_VERSION=2.11.0\nCOMPILER=/bin/true\n"),
              HasSubstr("LibTorch in /x lacks include/"));
  const fs::path torch = folder_.path() / "torch";
  const std::string tail = "TORCH=" + torch.string() +
                           "\nTORCH_VERSION=2.11.0\nCOMPILER=" + tiny().toolchain.compiler + "\n";
  folder_.write("torch/include/torch/csrc/api/include/torch/types.h", "");
  folder_.write("torch/lib/libc10.so", "");
  folder_.write("torch/lib/libtorch_cpu.so", "<html>");
  EXPECT_THAT(complaint(tail), HasSubstr("is damaged"));
  folder_.write("torch/lib/libtorch_cpu.so",
                "\x7f"
                "ELF");
  folder_.write("torch/include/torch/headeronly/version.h",
                "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 4\n"
                "#define TORCH_VERSION_PATCH 1\n");
  EXPECT_THAT(complaint(tail), HasSubstr("is version 2.4.1"));
  folder_.write("torch/include/torch/headeronly/version.h", "");
  folder_.write(".gradlab/toolchain", tail);
  const Toolchain read = read_toolchain(folder_.path());
  EXPECT_EQ(read.torch, torch.string());
  EXPECT_EQ(read.compiler_version, tiny().toolchain.compiler_version);
  EXPECT_EQ(read.clang, tiny().toolchain.clang);
}

// As an ordinary user, where we are root: another test of this program, from a copy.
TEST(OrdinaryUser, compiles_too) {
  if (geteuid() != 0) GTEST_SKIP() << "we are one";
  const TempFolder folder;
  fs::permissions(folder.path(), fs::perms::all);
  const fs::path program = folder.path() / "again";
  fs::copy_file("/proc/self/exe", program);
  fs::permissions(program, fs::perms(0755));
  sandbox::Command command;
  const auto as_nobody = [&](std::initializer_list<std::string> words) {
    command.argv = {"/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
    command.argv.insert(command.argv.end(), words);
    return run(command, Isolation::kNone);
  };
  if (as_nobody({"/usr/bin/test", "-r", repository() + "/.gradlab/toolchain"}).code != 0) {
    GTEST_SKIP() << "this tree is out of its reach";
  }
  command.environment = {{"TMPDIR", folder.path()}, {"GRADLAB_ROOT", repository()}};
  command.working_directory = folder.path();
  command.limits.wall_seconds = 200;
  command.limits.cpu_seconds = 200;
  command.limits.address_space = 16384 * sandbox::kMiB;
  const auto result = as_nobody({program, "--gtest_filter=Header.*", "--gtest_brief=1"});
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("PASSED"), Not(HasSubstr("SKIPPED TEST"))));
}

}  // namespace
}  // namespace gradlab::compile
