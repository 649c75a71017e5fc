// What a program in the box may use up: time, memory, output, files, processes.
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "sandbox/doors.hpp"
#include "sandbox_fixture.hpp"

namespace gradlab::sandbox {
namespace {

INSTANTIATE_TEST_SUITE_P(Isolations, Box, ::testing::ValuesIn(all_isolations()), name_of);
INSTANTIATE_TEST_SUITE_P(Isolations, Confined, ::testing::ValuesIn(confined()), name_of);

TEST_P(Box, stops_a_sleeper_by_the_clock) {
  Command command = bash("sleep 60");
  command.limits.wall_seconds = 0.3;
  const auto start = steady_clock::now();
  const Result result = run(command, GetParam());
  EXPECT_EQ(result.ending, Ending::kTimeLimit);
  EXPECT_THAT(result.why, HasSubstr("0.3 s by the clock"));
  EXPECT_LT(since(start), 3);
}

TEST_P(Box, stops_a_loop_by_its_cpu_time) {
  Command command = bash("while :; do :; done");
  command.limits.cpu_seconds = 1;
  const Result result = run(command, GetParam());
  EXPECT_EQ(result.ending, Ending::kTimeLimit) << result.code << " after " << result.cpu_seconds;
  EXPECT_THAT(result.why, HasSubstr("1 s of CPU time"));
  EXPECT_NEAR(result.cpu_seconds, 1, 0.5);  // the kernel counts in ticks
}

TEST_P(Box, stops_a_loop_in_a_child_of_a_shell) {
  Command command = bash("bash -c 'while :; do :; done'; exit $?");
  command.limits.cpu_seconds = 1;
  EXPECT_EQ(run(command, GetParam()).ending, Ending::kTimeLimit);
}

TEST_P(Box, a_lower_limit_of_the_machine_stays) {
  const int status = in_child([] {
    const rlimit low{30, 30};
    setrlimit(RLIMIT_CPU, &low);
    Command command = bash("ulimit -t");
    command.limits.cpu_seconds = 100;
    return run(command, GetParam()).output == "30\n" ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_P(Box, counts_cpu_time_of_children) {
  const Result result =
      run(bash("bash -c 'for ((i = 0; i < 150000; ++i)); do :; done'; exit 0"), GetParam());
  EXPECT_GT(result.cpu_seconds, 0.05);
}

TEST_P(Box, cuts_a_flood) {
  Command command = bash("yes");
  command.limits.output = 10000;
  const auto start = steady_clock::now();
  const Result result = run(command, GetParam());
  EXPECT_EQ(result.ending, Ending::kOutputLimit);
  EXPECT_TRUE(result.output_cut);
  EXPECT_EQ(result.output.size(), 10000u);
  EXPECT_LT(since(start), 3);
}

TEST_P(Box, output_of_exactly_the_limit_is_no_flood) {
  Command command = bash("printf %1000s x");
  command.limits.output = 1000;
  const Result result = run(command, GetParam());
  EXPECT_EQ(result.ending, Ending::kExited);
  EXPECT_EQ(result.output.size(), 1000u);
}

TEST_P(Box, memory_is_limited) {
  Command command = bash("perl -e '$x = q(x) x 300000000; print q(got it)'");
  command.limits.address_space = 200 * kMiB;
  EXPECT_THAT(run(command, GetParam()).output, Not(HasSubstr("got it")));
}

TEST_P(Confined, bounds_a_fork_bomb) {
  Command command = bash("bomb() { bomb | bomb & }; bomb; sleep 0.5; exit 0");
  command.limits.wall_seconds = 3;
  const auto start = steady_clock::now();
  const Result result = run_box(command);
  EXPECT_LT(since(start), 8);
  EXPECT_THAT(result.output, HasSubstr("Resource temporarily unavailable"));
  EXPECT_EQ(count_processes("bomb()"), 0);
}

TEST_P(Confined, counts_processes_inside_alone) {
  Command command = bash("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.4 & done; wait; echo done");
  command.limits.processes = 12;
  std::string other;
  std::thread beside([&] { other = run_box(command).output; });
  EXPECT_EQ(run_box(command).output, "done\n");
  beside.join();
  EXPECT_EQ(other, "done\n");
}

TEST_F(FullBox, tmp_and_files_have_a_size) {
  Command command = bash(
      "exec 2>&1; head -c 9000000 /usr/lib/x86_64-linux-gnu/libc.so.6 > /tmp/a;"
      "for i in 1 2 3 4 5 6 7 8; do cp /usr/bin/bash /tmp/$i; done; echo end");
  command.limits.tmpfs = 2 * kMiB;
  EXPECT_THAT(run_full(command).output, HasSubstr("No space left on device"));
  command.limits.tmpfs = 64 * kMiB;
  command.limits.file_size = 1 * kMiB;
  EXPECT_THAT(run_full(command).output, AllOf(Not(HasSubstr("No space")), HasSubstr("end")));
}

TEST(Doors, close_programs_and_network_and_set_limits) {
  const int result = in_child([] {
    Limits limits;
    limits.processes = 0;
    limits.open_files = 32;
    close_doors(limits);
    close_doors(limits);  // lowering what is low already is no error
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_max != 32) return 1;
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EAFNOSUPPORT) return 2;
    if (socket(AF_VSOCK, SOCK_STREAM, 0) >= 0 || errno != EAFNOSUPPORT) return 3;
    execl("/usr/bin/true", "true", nullptr);
    if (errno != EPERM) return 4;
    int sum = 0;
    std::thread([&] { sum = 1; }).join();  // clone3 is refused, clone is not
    const pid_t pid = fork();
    if (pid == 0) _exit(7);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) != 7) return 5;
    if (unshare(CLONE_NEWUSER) == 0) return 6;
    return sum == 1 ? 0 : 8;
  });
  EXPECT_EQ(result, 0);
}

TEST(OrdinaryUser, gets_the_same_from_all_tests) { expect_the_same_as_ordinary_user(); }

}  // namespace
}  // namespace gradlab::sandbox
