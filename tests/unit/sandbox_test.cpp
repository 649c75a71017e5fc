// The box from the outside: what a program in it can and cannot do, how its end is told, and that
// nothing of it is left. Run as root, the same tests run again as an ordinary user.
#include "sandbox/sandbox.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "sandbox/doors.hpp"
#include "sandbox/remedies.hpp"

namespace gradlab::sandbox {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A folder of this test, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "gradlab-sandbox-XXXXXX";
    path_ = mkdtemp(name.data());
    fs::permissions(path_, fs::perms(0755));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Command bash(const std::string& script) {
  Command command;
  command.argv = {"/usr/bin/bash", "-c", script};
  command.limits.wall_seconds = 10;
  command.limits.cpu_seconds = 5;
  return command;
}

double since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// Numbers of processes whose command line holds `mark`.
int count_processes(const std::string& mark) {
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

class Box : public testing::TestWithParam<Isolation> {
 protected:
  void SetUp() override {
    if (GetParam() == Isolation::kFull && probe().best != Isolation::kFull) {
      GTEST_SKIP() << probe().why_not_full << "\n" << probe().remedy;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Isolations, Box, testing::Values(Isolation::kFull, Isolation::kNone),
                         [](const auto& param) { return to_string(param.param); });

class FullBox : public testing::Test {
 protected:
  void SetUp() override {
    if (probe().best != Isolation::kFull) {
      GTEST_SKIP() << probe().why_not_full << "\n" << probe().remedy;
    }
  }
  static Result run_full(const Command& command) { return run(command, Isolation::kFull); }
};

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

TEST_P(Box, stdin_is_empty_and_no_descriptor_gets_in) {
  const int open_file = open("/proc/self/status", O_RDONLY);  // not close-on-exec, on purpose
  ASSERT_GE(open_file, 0);
  const Result result = run(
      bash("read -r line && echo read $line;"
           "perl -e 'for (3..200) { open(my $f, \"<&=\", $_) and print \"open $_\\n\" }'"),
      GetParam());
  close(open_file);
  EXPECT_EQ(result.output, "");
}

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
  EXPECT_EQ(result.ending, Ending::kTimeLimit);
  EXPECT_THAT(result.why, HasSubstr("1 s of CPU time"));
  EXPECT_NEAR(result.cpu_seconds, 1, 0.2);
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

TEST_P(Box, a_program_that_closes_its_output_is_still_waited_for) {
  const Result result = run(bash("exec >&- 2>&-; sleep 0.3; exit 7"), GetParam());
  EXPECT_EQ(result.code, 7);
  EXPECT_GE(result.wall_seconds, 0.3);
}

TEST_P(Box, memory_is_limited) {
  Command command = bash("perl -e '$x = q(x) x 300000000; print q(got it)'");
  command.limits.address_space = 200 * kMiB;
  EXPECT_THAT(run(command, GetParam()).output, Not(HasSubstr("got it")));
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
  process.kill();
  const Result result = process.wait();
  EXPECT_EQ(result.ending, Ending::kSignalled);
  EXPECT_EQ(result.code, SIGKILL);
}

TEST_P(Box, many_at_once_from_many_threads) {
  std::vector<std::thread> threads;
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

TEST_F(FullBox, hides_the_files_of_the_host) {
  const Result result = run_full(bash(
      "for f in /etc/passwd /root /home /proc /sys /dev/zero /work /var " + fs::current_path().string() +
      "; do [ -e $f ] && echo $f; done; echo /*; ls -A /tmp"));
  EXPECT_EQ(result.output, "/bin /dev /lib /lib64 /tmp /usr\n");
}

TEST_F(FullBox, shows_mounts_read_only_and_writable) {
  Folder folder;
  std::ofstream(folder / "file") << "text";
  fs::create_directories(folder / "out");
  Command command = bash("cat /in/file; echo x > /out/made; echo x 2>&- > /in/file || echo refused; "
                         "echo x 2>&- > /other || echo root refused; rm -f /in/file 2>&- || echo kept");
  command.mounts = {{folder.path(), "/in"}, {folder / "out", "/out", true}};
  const Result result = run_full(command);
  EXPECT_EQ(result.output, "textrefused\nroot refused\nkept\n");
  EXPECT_TRUE(fs::exists(folder / "out/made"));
}

TEST_F(FullBox, a_later_mount_covers_a_file_of_an_earlier_one) {
  Folder folder;
  fs::create_directories(folder / "in");
  std::ofstream(folder / "in/header") << "real";
  std::ofstream(folder / "mask") << "mask";
  Command command = bash("cat /in/header");
  command.mounts = {{folder / "in", "/in"}, {folder / "mask", "/in/header"}};
  EXPECT_EQ(run_full(command).output, "mask");
}

TEST_F(FullBox, sees_files_in_a_folder_that_only_we_may_enter) {
  Folder folder;
  fs::create_directories(folder / "home/lab");
  std::ofstream(folder / "home/lab/file") << "text";
  fs::permissions(folder / "home", fs::perms::owner_all);
  Command command = bash("cat /lab/file");
  command.mounts = {{folder / "home/lab", "/lab"}};
  EXPECT_EQ(run_full(command).output, "text");
}

TEST_F(FullBox, what_only_root_can_read_is_named) {
  if (geteuid() != 0) return;
  Folder folder;
  std::ofstream(folder / "file") << "text";
  fs::permissions(folder / "file", fs::perms(0600));
  Command command = bash("cat /file");
  command.mounts = {{folder / "file", "/file"}};
  EXPECT_THAT(run_full(command).why, HasSubstr("chmod -R a+rX " + (folder / "file")));
}

TEST_F(FullBox, is_not_root_and_has_no_capabilities) {
  EXPECT_EQ(run_full(bash("id -u; id -G")).output, "65534\n65534\n");
  EXPECT_THAT(run_full(bash("/usr/bin/unshare -U true")).output, HasSubstr("Operation not permitted"));
}

TEST_F(FullBox, has_no_network) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 4), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const std::string script = "exec 2>&-; : <> /dev/tcp/127.0.0.1/" + port + " && echo connected; :";
  EXPECT_EQ(run(bash(script), Isolation::kNone).output, "connected\n");  // the script can tell
  EXPECT_EQ(run_full(bash(script)).output, "");
  close(listener);
}

TEST_F(FullBox, bounds_a_fork_bomb) {
  Command command = bash("bomb() { bomb | bomb & }; bomb; sleep 0.5; exit 0");
  command.limits.wall_seconds = 3;
  const auto start = steady_clock::now();
  const Result result = run_full(command);
  EXPECT_LT(since(start), 8);
  EXPECT_THAT(result.output, HasSubstr("Resource temporarily unavailable"));
  EXPECT_EQ(count_processes("bomb()"), 0);
}

TEST_F(FullBox, counts_processes_inside_alone) {
  Command command = bash("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.4 & done; wait; echo done");
  command.limits.processes = 12;
  std::string other;
  std::thread beside([&] { other = run_full(command).output; });
  EXPECT_EQ(run_full(command).output, "done\n");
  beside.join();
  EXPECT_EQ(other, "done\n");
}

TEST_F(FullBox, leaves_no_daemon) {
  const std::string daemon = "setsid bash -c 'trap \"\" TERM HUP INT; sleep 4711.5' & ";
  run_full(bash(daemon + "sleep 0.2; exit 0"));  // leaves by itself
  EXPECT_EQ(count_processes("4711.5"), 0);
  Command command = bash(daemon + "sleep 60");  // is killed
  command.limits.wall_seconds = 0.3;
  run_full(command);
  EXPECT_EQ(count_processes("4711.5"), 0);
  Command runner = bash(daemon + "sleep 60");
  Process process = Process::start(runner, Isolation::kFull);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GT(count_processes("4711.5"), 0);  // the count can tell
  process.kill();
  EXPECT_EQ(count_processes("4711.5"), 0);
}

TEST_F(FullBox, tmp_and_files_have_a_size) {
  Command command = bash("exec 2>&1; head -c 9000000 /usr/lib/x86_64-linux-gnu/libc.so.6 > /tmp/a;"
                         "for i in 1 2 3 4 5 6 7 8; do cp /usr/bin/bash /tmp/$i; done; echo end");
  command.limits.tmpfs = 2 * kMiB;
  EXPECT_THAT(run_full(command).output, HasSubstr("No space left on device"));
  command.limits.tmpfs = 64 * kMiB;
  command.limits.file_size = 1 * kMiB;
  EXPECT_THAT(run_full(command).output, AllOf(Not(HasSubstr("No space")), HasSubstr("end")));
}

TEST_F(FullBox, a_runner_has_libraries_and_devices_but_no_programs) {
  Command command = bash("");
  command.for_runner = true;
  command.mounts = {{"/usr/bin/bash", "/box/runner"}};
  command.argv = {"/box/runner", "-c",
                  "exec 2>&1; for f in /usr/bin /etc /proc/self /dev/zero; do [ -e $f ] && echo $f; done;"
                  "for f in /proc/cpuinfo /dev/null /dev/urandom /sys/devices/system/cpu; do"
                  " [ -r $f ] || echo no $f; done; echo $$ $OMP_NUM_THREADS"};
  command.environment = {{"OMP_NUM_THREADS", "1"}};
  EXPECT_EQ(run_full(command).output, "2 1\n");
}

TEST(Container, is_refused_with_a_reason) {
  EXPECT_THROW(
      try { run(bash("true"), Isolation::kContainer); } catch (const SandboxError& error) {
        EXPECT_EQ(error.kind(), SandboxErrorKind::kNotOffered);
        EXPECT_THAT(error.what(), HasSubstr("not offered yet"));
        throw;
      },
      SandboxError);
  EXPECT_THAT(probe().container, HasSubstr("not offered yet"));
}

TEST(Names, go_both_ways) {
  for (const Isolation isolation : {Isolation::kFull, Isolation::kContainer, Isolation::kNone}) {
    EXPECT_EQ(isolation_from(to_string(isolation)), isolation);
  }
  EXPECT_EQ(isolation_from("weak"), std::nullopt);
}

TEST(PathInside, is_the_host_path_without_isolation) {
  Command command;
  command.mounts = {{"/host/torch", "/opt/libtorch"}, {"/host/mask.h", "/opt/libtorch/a.h"}};
  EXPECT_EQ(path_inside(command, Isolation::kFull, "/opt/libtorch/lib"), "/opt/libtorch/lib");
  EXPECT_EQ(path_inside(command, Isolation::kNone, "/opt/libtorch/lib"), "/host/torch/lib");
  EXPECT_EQ(path_inside(command, Isolation::kNone, "/opt/libtorch/a.h"), "/host/mask.h");
  EXPECT_EQ(path_inside(command, Isolation::kNone, "/opt/libtorch2"), "/opt/libtorch2");
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

TEST(Remedies, recognise_the_known_failures) {
  const std::string docker_user = "bwrap: No permissions to create new namespace, likely because the "
                                  "kernel does not allow non-privileged user namespaces.";
  const std::string docker_root = "bwrap: Creating new namespace failed: Operation not permitted";
  const std::string count = "bwrap: Creating new namespace failed: nesting depth or "
                            "/proc/sys/user/max_*_namespaces exceeded (ENOSPC)";
  const std::string ubuntu = "bwrap: setting up uid map: Permission denied";
  Machine machine;
  EXPECT_THAT(remedy_for(docker_user, machine).lines, HasSubstr("--security-opt"));
  EXPECT_THAT(remedy_for(docker_root, machine).lines, HasSubstr("--security-opt"));
  EXPECT_THAT(remedy_for(count, machine).lines, HasSubstr("user.max_user_namespaces"));
  machine.apparmor_restricts = true;
  EXPECT_THAT(remedy_for(ubuntu, machine).lines,
              HasSubstr("kernel.apparmor_restrict_unprivileged_userns=0"));
  machine = {};
  machine.clone_forbidden = true;
  EXPECT_THAT(remedy_for(docker_user, machine).lines, HasSubstr("unprivileged_userns_clone=1"));
  EXPECT_THAT(remedy_for("bwrap: something new\nmore", {}).why, HasSubstr("(bwrap: something new)"));
}

// As in Docker: the calls that make namespaces are refused. The text must come from bubblewrap here.
TEST(Probe, without_namespaces_names_the_cause) {
  if (probe().best != Isolation::kFull) GTEST_SKIP();
  Folder folder;
  const std::string answer = folder / "answer";
  // A new process, since the answer of probe() is remembered.
  const int status = in_child([&] {
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
    for (const unsigned long flag : {CLONE_NEWUSER, CLONE_NEWNS}) {
      seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                       scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, flag, flag});
    }
    seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0);
    seccomp_load(context);
    const std::string filter = "--gtest_filter=*tells_what_it_finds";
    setenv("GRADLAB_ANSWER", answer.c_str(), 1);
    execl("/proc/self/exe", "sandbox_test", filter.c_str(), nullptr);
    return 9;
  });
  ASSERT_EQ(status, 0);
  std::stringstream text;
  text << std::ifstream(answer).rdbuf();
  EXPECT_THAT(text.str(), AllOf(HasSubstr("none"), HasSubstr("seccomp profile"),
                                HasSubstr("docker run --security-opt")));
}

// For the test above; alone it only holds probe() to its word.
TEST(Probe, tells_what_it_finds) {
  const Probe& found = probe();
  EXPECT_EQ(found.best == Isolation::kFull, found.why_not_full.empty());
  EXPECT_EQ(found.best == Isolation::kFull, found.remedy.empty());
  if (const char* answer = std::getenv("GRADLAB_ANSWER")) {
    std::ofstream(answer) << to_string(found.best) << "\n"
                          << found.why_not_full << "\n" << found.remedy;
  }
}

// The ordinary user gets a copy, since the build folder may be out of its reach.
TEST(OrdinaryUser, gets_the_same_from_all_tests) {
  if (geteuid() != 0) GTEST_SKIP() << "we are one";
  Folder folder;
  fs::permissions(folder.path(), fs::perms::all);
  fs::copy_file("/proc/self/exe", folder / "sandbox_test");
  fs::permissions(folder / "sandbox_test", fs::perms(0755));
  Command command;
  command.argv = {"/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                  folder / "sandbox_test", "--gtest_brief=1"};
  command.environment = {{"TEST_TMPDIR", folder.path()}};
  command.working_directory = folder.path();
  command.limits.wall_seconds = 100;
  command.limits.cpu_seconds = 60;
  command.limits.address_space = 16384 * kMiB;
  const Result result = run(command, Isolation::kNone);
  EXPECT_EQ(result.ending, Ending::kExited) << result.why;
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("SKIPPED TEST"))) << result.output;
}

}  // namespace
}  // namespace gradlab::sandbox
