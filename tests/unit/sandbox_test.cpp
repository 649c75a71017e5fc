// The box from the outside: programs start in it, and how their end is told. Limits and walls have
// files of their own. Run as root, the same tests run again as an ordinary user.
#include <signal.h>

#include <atomic>
#include <thread>

#include "sandbox_fixture.hpp"

namespace gradlab::sandbox {
namespace {

INSTANTIATE_TEST_SUITE_P(Isolations, Box, ::testing::ValuesIn(all_isolations()), name_of);

TEST_P(Box, runs_a_program_and_tells_its_exit_status) {
  const Result result = run(bash("echo out; echo err >&2; exit 3"), GetParam());
  EXPECT_EQ(result.ending, Ending::kExited) << result.why;
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_FALSE(result.output_cut);
}

TEST_P(Box, tells_a_signal) {
  // In a child, because the first process of a box ignores what it sends itself.
  const Result result = run(bash("bash -c 'kill -SEGV $$'; exit $?"), GetParam());
  EXPECT_EQ(result.ending == Ending::kSignalled ? result.code : result.code - 128, SIGSEGV);
}

TEST_P(Box, a_program_that_closes_its_output_is_still_waited_for) {
  const Result result = run(bash("exec >&- 2>&-; sleep 0.3; exit 7"), GetParam());
  EXPECT_EQ(result.code, 7);
  EXPECT_GE(result.wall_seconds, 0.3);
}

TEST_P(Box, channel_is_descriptor_3) {
  Process process = Process::start(bash("read -r line <&3; echo \"got $line\" >&3"), GetParam());
  ASSERT_EQ(write(process.channel(), "word\n", 5), 5);
  char buffer[64] = {};
  EXPECT_EQ(read(process.channel(), buffer, sizeof buffer), 9);
  EXPECT_STREQ(buffer, "got word\n");
  const Result result = process.wait();
  EXPECT_EQ(result.ending, Ending::kExited);
  EXPECT_EQ(result.code, 0);
}

TEST_P(Box, channel_ends_when_the_program_does) {
  Process process = Process::start(bash("exit 0"), GetParam());
  char buffer[8];
  EXPECT_EQ(read(process.channel(), buffer, sizeof buffer), 0);
}

TEST_P(Box, destruction_kills) {
  pid_t pid = 0;
  {
    Process process = Process::start(bash("sleep 61"), GetParam());
    pid = process.pid();
    EXPECT_FALSE(process.ended());
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_P(Box, kill_then_wait_is_a_signal) {
  Process process = Process::start(bash("sleep 62"), GetParam());
  process.kill();
  EXPECT_TRUE(process.ended());
  process.kill();
  const Result result = process.wait();
  EXPECT_EQ(result.ending, Ending::kSignalled);
  EXPECT_EQ(result.code, SIGKILL);
}

TEST_P(Box, many_at_once_from_many_threads) {
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const Result result = run(bash("echo " + std::to_string(i)), GetParam());
      if (result.output == std::to_string(i) + "\n") ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
}

TEST_P(Box, no_such_program_says_so) {
  Command command = bash("");
  command.argv = {"/no/such/program"};
  const Result result = run(command, GetParam());
  EXPECT_NE(result.code == 0 && result.ending == Ending::kExited, true);
  EXPECT_THAT(result.why + result.output, HasSubstr("/no/such/program"));
}

TEST_P(Box, missing_mount_and_relative_path_are_named) {
  Command command = bash("true");
  command.mounts = {{"/no/such/file", "/x"}};
  Result result = run(command, GetParam());
  EXPECT_EQ(result.ending, Ending::kNotStarted);
  EXPECT_THAT(result.why, HasSubstr("/no/such/file does not exist"));
  command.mounts = {{"relative", "/x"}};
  EXPECT_THAT(run(command, GetParam()).why, HasSubstr("'relative' is not an absolute path"));
}

TEST(Container, is_refused_without_root_and_the_way_out_is_named) {
  if (geteuid() == 0) return;
  EXPECT_THAT(probe_container(), AllOf(HasSubstr("needs root"), HasSubstr("--user 0")));
  EXPECT_THROW(
      try { run(bash("true"), Isolation::kContainer); } catch (const SandboxError& error) {
        EXPECT_EQ(error.kind(), SandboxErrorKind::kNotOffered);
        throw;
      },
      SandboxError);
}

TEST(Names, go_both_ways) {
  for (const Isolation isolation : {Isolation::kFull, Isolation::kContainer, Isolation::kNone}) {
    EXPECT_EQ(isolation_from(to_string(isolation)), isolation);
  }
  EXPECT_EQ(isolation_from("weak"), std::nullopt);
}

TEST(PathInside, is_the_host_path_without_bubblewrap) {
  Command command;
  command.mounts = {{"/host/torch", "/opt/libtorch"}, {"/host/mask.h", "/opt/libtorch/a.h"}};
  EXPECT_EQ(path_inside(command, Isolation::kFull, "/opt/libtorch/lib"), "/opt/libtorch/lib");
  EXPECT_EQ(path_inside(command, Isolation::kNone, "/opt/libtorch/lib"), "/host/torch/lib");
  EXPECT_EQ(path_inside(command, Isolation::kNone, "/opt/libtorch/a.h"), "/host/mask.h");
  EXPECT_EQ(path_inside(command, Isolation::kNone, "/opt/libtorch2"), "/opt/libtorch2");
  EXPECT_EQ(path_inside(command, Isolation::kContainer, "/opt/libtorch/a.h"), "/host/mask.h");
}

TEST(OrdinaryUser, gets_the_same_from_all_tests) { expect_the_same_as_ordinary_user(); }

}  // namespace
}  // namespace gradlab::sandbox
