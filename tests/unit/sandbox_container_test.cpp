// What is special to isolation container: a uid of its own for each box, what it may open, and that
// nothing of it is left, whoever was killed.
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <thread>

#include "sandbox/landlock.hpp"
#include "sandbox/remove_tree.hpp"
#include "sandbox/uids.hpp"
#include "sandbox_fixture.hpp"

namespace gradlab::sandbox {
namespace {

using ::testing::StartsWith;

class Container : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "container is root's";
    if (!probe_container().empty()) GTEST_SKIP() << probe_container();
  }
  static Result run_in(const Command& command) { return run(command, Isolation::kContainer); }
  static Result run_in(const std::string& script) { return run_in(bash(script)); }
};

std::string first_line(Process& process) {
  char text[256] = {};
  for (int tries = 0; tries < 500 && std::string(text).find('\n') == std::string::npos; ++tries) {
    const std::string had = text;
    if (read(process.output(), text + had.size(), sizeof text - had.size() - 1) <= 0) usleep(10000);
  }
  return std::string(text).substr(0, std::string(text).find('\n'));
}

// Not a zombie.
bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t at = line.rfind(") ");
  return at != std::string::npos && line[at + 2] != 'Z';
}

bool is_locked(uid_t uid) {
  const Descriptor file(
      open(("/run/gradlab-uids/" + std::to_string(uid)).c_str(), O_RDWR | O_CLOEXEC));
  return flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

TEST_F(Container, has_a_uid_and_a_group_of_its_own_and_its_processes_counted) {
  const Result result = run_in("id -u; id -G");
  std::istringstream lines(result.output);
  int uid = 0, group = 0;
  std::string more;
  lines >> uid >> group;
  EXPECT_GT(uid, 1000);
  EXPECT_EQ(group, uid);
  EXPECT_FALSE(lines >> more) << more;
  EXPECT_EQ(run_in("ulimit -u").output, "32\n");
}

TEST_F(Container, has_no_capability_and_no_new_privileges) {
  // Its own status is out of its reach, so it is read from here.
  Process process = Process::start(bash("echo $$; sleep 20"), Isolation::kContainer);
  const std::string pid = first_line(process);
  std::ifstream file("/proc/" + pid + "/status");
  std::stringstream text;
  text << file.rdbuf();
  const std::string none = "0000000000000000\n";
  for (const char* set : {"CapInh:\t", "CapPrm:\t", "CapEff:\t", "CapBnd:\t", "CapAmb:\t"}) {
    EXPECT_THAT(text.str(), HasSubstr(set + none));
  }
  EXPECT_THAT(text.str(), AllOf(HasSubstr("NoNewPrivs:\t1"), HasSubstr("Seccomp:\t2"),
                                HasSubstr("Groups:\t \n")));
}

TEST_F(Container, its_temporary_folder_is_private_empty_and_removed) {
  const Result result = run_in(
      "pwd; echo $TMPDIR; stat -c %a-%u .; id -u; ls -A; mkdir -p a/b; echo x > a/b/c; ln -s /etc "
      "l;"
      "mkdir closed; echo y > closed/file; chmod 0 closed a");
  std::istringstream lines(result.output);
  std::string here, temporary, mode, uid, more;
  lines >> here >> temporary >> mode >> uid;
  EXPECT_THAT(here, StartsWith("/tmp/gradlab-box-"));
  EXPECT_EQ(here, temporary);
  EXPECT_EQ(mode, "700-" + uid);
  EXPECT_FALSE(lines >> more) << more;
  EXPECT_FALSE(fs::exists(here));
  EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST(RemoveTree, takes_a_folder_that_is_deeper_than_descriptors_reach) {
  Folder folder;
  Command command = bash(
      "mkdir top && cd top && perl -e 'for (1..3000) { mkdir q(d); chdir q(d) } "
      "open F, q(>file)'");
  command.working_directory = folder.path().string();
  run(command, Isolation::kNone);
  ASSERT_TRUE(fs::exists(folder / "top/d/d/d"));
  remove_tree(folder / "top");
  EXPECT_FALSE(fs::exists(folder / "top"));
}

TEST(RemoveTree, follows_no_link_out_of_the_folder) {
  Folder folder;
  fs::create_directories(folder / "kept/inner");
  std::ofstream(folder / "kept/file") << "text";
  fs::create_directories(folder / "gone/inner");
  fs::create_directory_symlink(folder / "kept", folder / "gone/inner/link");
  fs::create_directory_symlink(folder / "kept", folder / "link");
  remove_tree(folder / "gone");
  remove_tree(folder / "link");
  EXPECT_FALSE(fs::exists(folder / "gone"));
  EXPECT_TRUE(fs::exists(folder / "kept/file"));
}

TEST_F(Container, two_boxes_cannot_kill_or_read_each_other) {
  Process one = Process::start(bash("echo $$ $PWD; echo secret > note; chmod -R 777 .; sleep 30"),
                               Isolation::kContainer);
  std::istringstream told(first_line(one));
  pid_t pid = 0;
  std::string folder;
  told >> pid >> folder;
  ASSERT_GT(pid, 0);
  usleep(100000);
  const std::string other = std::to_string(pid);
  const Result result =
      run_in("exec 2>&-; kill -9 " + other + " && echo killed; kill -9 -1; : < " + folder +
             "/note && echo read; : < /proc/" + other + "/cmdline && echo seen; echo tried");
  EXPECT_EQ(result.output, "tried\n");
  EXPECT_TRUE(is_running(pid));
  EXPECT_FALSE(one.ended());
}

TEST_F(Container, ends_a_daemon_that_ignores_all_signals) {
  const std::string daemon =
      "perl -MPOSIX -e '$SIG{$_} = q(IGNORE) for keys %SIG; fork and exit; POSIX::setsid(); fork "
      "and "
      "exit; print qq($$\\n); close STDOUT; sleep 4712 while 1' & ";
  Process process = Process::start(bash(daemon + "sleep 1; exit 5"), Isolation::kContainer);
  const pid_t pid = std::stoi(first_line(process));
  EXPECT_TRUE(is_running(pid));
  EXPECT_EQ(process.wait().code, 5);
  EXPECT_NE(kill(pid, 0), 0);  // not even a zombie
}

TEST_F(Container, a_file_that_its_uid_left_open_to_all_cannot_be_executed) {
  EXPECT_THAT(run_in("cp /usr/bin/true x; chmod 755 x; exec 2>&1; ./x || echo refused").output,
              HasSubstr("refused"));
}

// The grader dies in the middle of a box, without a word.
struct Killed {
  pid_t first = 0;
  std::string folder;
  uid_t uid = 0;
};
Killed kill_a_grader(bool keeper_too) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t grader = fork();
  if (grader == 0) {
    Process process = Process::start(
        bash("trap '' TERM HUP; echo $$ $PWD $UID; echo x > left; while :; do sleep 1; done"),
        Isolation::kContainer);
    const std::string line = std::to_string(process.pid()) + " " + first_line(process) + "\n";
    [[maybe_unused]] const auto told = write(ends[1], line.data(), line.size());
    for (;;) pause();
  }
  close(ends[1]);
  char text[256] = {};
  EXPECT_GT(read(ends[0], text, sizeof text - 1), 0);
  close(ends[0]);
  Killed killed;
  pid_t keeper = 0;
  std::istringstream(text) >> keeper >> killed.first >> killed.folder >> killed.uid;
  if (keeper_too) kill(keeper, SIGKILL);
  kill(grader, SIGKILL);
  waitpid(grader, nullptr, 0);
  return killed;
}

bool becomes_true(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 500; ++tries) {
    if (condition()) return true;
    usleep(10000);
  }
  return false;
}

TEST_F(Container, what_is_running_ends_with_a_killed_grader) {
  const Killed killed = kill_a_grader(/*keeper_too=*/false);
  ASSERT_GT(killed.first, 0);
  EXPECT_TRUE(becomes_true([&] { return !is_running(killed.first); }));
  EXPECT_TRUE(becomes_true([&] { return !is_locked(killed.uid); }));
}

TEST_F(Container, the_next_box_cleans_what_a_killed_grader_left) {
  const Killed killed = kill_a_grader(/*keeper_too=*/true);
  ASSERT_GT(killed.first, 0);
  EXPECT_TRUE(becomes_true([&] { return !is_locked(killed.uid); }));
  ASSERT_TRUE(fs::exists(killed.folder));
  const auto lease = Lease::take();
  EXPECT_EQ(lease->uid(), killed.uid);
  EXPECT_FALSE(is_running(killed.first));
  EXPECT_FALSE(fs::exists(killed.folder));
}

TEST_F(Container, no_two_leases_have_a_uid_in_common) {
  const auto one = Lease::take(), two = Lease::take();
  EXPECT_NE(one->uid(), two->uid());
  EXPECT_NE(one->killer(), two->uid());
  EXPECT_NE(two->killer(), one->uid());
  EXPECT_TRUE(is_locked(one->uid()));
}

TEST_F(Container, a_mount_behind_a_closed_folder_is_refused_with_the_way_out) {
  Folder folder;
  fs::create_directories(folder / "home/lab");
  fs::permissions(folder / "home", fs::perms::owner_all);
  Command command = bash("true");
  command.mounts = {{folder / "home/lab", "/lab"}};
  const Result result = run_in(command);
  EXPECT_EQ(result.ending, Ending::kNotStarted);
  EXPECT_THAT(result.why, AllOf(HasSubstr((folder / "home") + " is closed to others"),
                                HasSubstr("chmod a+rX " + (folder / "home"))));
}

TEST_F(Container, leaves_no_shared_memory) {
  const std::string file = "exec 2>&-; echo x > /dev/shm/gradlab-test && echo shm; ";
  EXPECT_EQ(run(bash(file), Isolation::kNone).output, "shm\n");  // the script can tell
  fs::remove("/dev/shm/gradlab-test");
  EXPECT_EQ(run_in(file + "perl -e 'print q(sysv) if defined shmget(0, 4096, 01600);"
                          "print q(sem) if defined semget(0, 1, 01600);"
                          "print q(msg) if defined msgget(0, 01600)'; echo tried")
                .output,
            "tried\n");
}

// All versions that this kernel knows: an older one is what an older kernel has.
TEST(Landlock, holds_with_each_version) {
  if (landlock_abi() == 0) GTEST_SKIP() << "none here";
  Folder folder;
  fs::create_directories(folder / "in");
  std::ofstream(folder / "outside") << "text";
  fs::permissions(folder / "outside", fs::perms(0666));
  const std::vector<Opening> openings{
      {"/usr", Reach::kRead}, {folder / "in", Reach::kWrite}, {"/dev/null", Reach::kDevice}};
  for (int abi = 1; abi <= landlock_abi(); ++abi) {
    const int wrong = in_child([&] {
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      const Descriptor rules = landlock_ruleset(openings, abi);
      if (!landlock_enter(rules.get())) return 1;
      if (open("/etc/passwd", O_RDONLY) >= 0 || open("/", O_RDONLY) >= 0) return 2;
      if (open("/usr/bin/true", O_RDONLY) < 0 || open("/dev/null", O_RDWR) < 0) return 3;
      if (open((folder / "in/made").c_str(), O_WRONLY | O_CREAT, 0600) < 0) return 4;
      if (rename((folder / "in/made").c_str(), (folder / "in/moved").c_str()) != 0) return 5;
      if (rename((folder / "in/moved").c_str(), (folder / "moved").c_str()) == 0) return 6;
      if (open((folder / "made").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) return 7;
      if (open((folder / "outside").c_str(), O_WRONLY) >= 0) return 8;
      if (abi >= 3 && truncate((folder / "outside").c_str(), 0) == 0) return 9;
      return 0;
    });
    EXPECT_EQ(wrong, 0) << "version " << abi;
  }
}

// The answer of probe_container() is remembered, so it is asked in a new process.
std::string answer_of_another(const std::vector<std::string>& before) {
  Folder folder;
  fs::permissions(folder.path(), fs::perms::all);
  Command command;
  command.argv = before;
  command.argv.insert(command.argv.end(), {fs::canonical("/proc/self/exe").string(),
                                           "--gtest_filter=ContainerProbe.tells_what_it_finds"});
  command.environment = {{"GRADLAB_ANSWER", folder / "answer"}};
  run(command, Isolation::kNone);
  std::stringstream text;
  text << std::ifstream(folder / "answer").rdbuf();
  return text.str();
}

// For the tests below; alone it only holds probe_container() to its word.
TEST(ContainerProbe, tells_what_it_finds) {
  const bool works = probe_container().empty();
  if (works) EXPECT_EQ(run(bash("true"), Isolation::kContainer).code, 0);
  if (const char* answer = std::getenv("GRADLAB_ANSWER")) {
    std::ofstream(answer) << (works ? "works" : probe_container());
  }
}

TEST_F(Container, is_refused_to_a_root_that_has_one_uid_alone) {
  if (run(bash("unshare -Ur true"), Isolation::kNone).code != 0) GTEST_SKIP() << "no namespaces";
  EXPECT_THAT(answer_of_another({"/usr/bin/unshare", "-Ur"}),
              AllOf(HasSubstr("rootless"), HasSubstr("Docker's default capabilities")));
}

TEST_F(Container, is_refused_without_the_capability_to_become_another) {
  EXPECT_THAT(answer_of_another({"/usr/bin/setpriv", "--bounding-set", "-setuid"}),
              HasSubstr("CAP_SETUID"));
}

TEST_F(Container, works_as_root_that_may_neither_mount_nor_override) {
  EXPECT_EQ(answer_of_another({"/usr/bin/setpriv", "--bounding-set", "-sys_admin,-sys_ptrace"}),
            "works");
}

TEST_F(Container, is_refused_without_landlock) {
  const int status = in_child([] {
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
    seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), 444, 0);
    seccomp_load(context);
    const std::string answer = answer_of_another({});
    return answer.find("no Landlock") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gradlab::sandbox
