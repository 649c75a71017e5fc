// What a program in the box can reach: files, network, devices, other processes; and that nothing
// of it is left. What the machine itself has to allow is the probe, at the end.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>

#include <thread>

#include "sandbox/remedies.hpp"
#include "sandbox_fixture.hpp"

namespace gradlab::sandbox {
namespace {

INSTANTIATE_TEST_SUITE_P(Isolations, Box, ::testing::ValuesIn(all_isolations()), name_of);
INSTANTIATE_TEST_SUITE_P(Isolations, Confined, ::testing::ValuesIn(confined()), name_of);

TEST_P(Box, stdin_is_empty_and_no_descriptor_gets_in) {
  const int open_file = open("/proc/self/status", O_RDONLY);  // not close-on-exec, on purpose
  ASSERT_GE(open_file, 0);
  const Result result =
      run(bash("read -r line && echo read $line;"
               "perl -e 'for (3..200) { open(my $f, \"<&=\", $_) and print \"open $_\\n\" }'"),
          GetParam());
  close(open_file);
  EXPECT_EQ(result.output, "");
}

TEST_P(Confined, reads_no_file_of_the_host) {
  Folder folder;
  std::ofstream(folder / "file") << "text";
  const Result result = run_box(
      bash("exec 2>&-; for f in /etc/passwd /etc /root /home /proc/self/maps /proc/1/cmdline /proc "
           "/sys/kernel /dev/zero /dev/mem /dev/shm /var " +
           (folder / "file") + " " + folder.path().string() +
           "; do : < $f && echo read $f; done; : < /usr/bin/bash && echo and bash"));
  EXPECT_EQ(result.output, "and bash\n");  // the script can tell
}

TEST_F(FullBox, hides_the_files_of_the_host) {
  const Result result = run_full(
      bash("for f in /etc/passwd /root /home /proc /sys /dev/zero /var " +
           fs::current_path().string() + "; do [ -e $f ] && echo $f; done; echo /*; ls -A /tmp"));
  EXPECT_EQ(result.output, "/bin /dev /lib /lib64 /tmp /usr\n");
}

TEST_P(Confined, mounts_are_read_only_or_writable) {
  Folder folder;
  std::ofstream(folder / "file") << "text";
  fs::create_directories(folder / "out");
  Command command;
  command.mounts = {{folder / "file", "/in/file"}, {folder / "out", "/out", true}};
  const std::string file = in_box(command, "/in/file"), out = in_box(command, "/out");
  command.argv =
      bash("exec 2>&-; cat " + file + "; echo x > " + out + "/made; echo x > " + file +
           " || echo refused; rm -f " + file + " || echo kept; for f in /other /usr/other " +
           "/var/tmp/other /dev/shm/other " + (folder / "other") +
           "; do echo x > $f && echo wrote $f; done")
          .argv;
  EXPECT_EQ(run_box(command).output, "textrefused\nkept\n");
  EXPECT_TRUE(fs::exists(folder / "out/made"));
  EXPECT_TRUE(fs::exists(folder / "file"));
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

TEST_P(Confined, what_only_root_can_read_is_named) {
  if (geteuid() != 0) return;
  Folder folder;
  std::ofstream(folder / "file") << "text";
  fs::permissions(folder / "file", fs::perms(0600));
  Command command = bash("cat /file");
  command.mounts = {{folder / "file", "/file"}};
  EXPECT_THAT(run_box(command).why,
              AllOf(HasSubstr("chmod "), HasSubstr("a+rX " + (folder / "file"))));
}

TEST_F(FullBox, is_not_root_and_has_no_capabilities) {
  EXPECT_EQ(run_full(bash("id -u; id -G")).output, "65534\n65534\n");
  EXPECT_THAT(run_full(bash("/usr/bin/unshare -U true")).output,
              HasSubstr("Operation not permitted"));
}

TEST_P(Confined, has_no_network) {
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
  EXPECT_EQ(run_box(bash(script)).output, "");
  close(listener);
}

TEST_P(Confined, leaves_no_daemon) {
  const std::string daemon = "setsid bash -c 'trap \"\" TERM HUP INT; sleep 4711.5' & ";
  run_box(bash(daemon + "sleep 0.2; exit 0"));  // leaves by itself
  EXPECT_EQ(count_processes("4711.5"), 0);
  Command command = bash(daemon + "sleep 60");  // is killed
  command.limits.wall_seconds = 0.3;
  run_box(command);
  EXPECT_EQ(count_processes("4711.5"), 0);
  Command runner = bash(daemon + "sleep 60");
  Process process = Process::start(runner, GetParam());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GT(count_processes("4711.5"), 0);  // the count can tell
  process.kill();
  EXPECT_EQ(count_processes("4711.5"), 0);
}

TEST_F(FullBox, a_runner_has_libraries_and_devices_but_no_programs) {
  Command command = bash("");
  command.for_runner = true;
  command.mounts = {{"/usr/bin/bash", "/box/runner"}};
  command.argv = {
      "/box/runner", "-c",
      "exec 2>&1; for f in /usr/bin /etc /proc/self /dev/zero; do [ -e $f ] && echo $f; done;"
      "for f in /proc/cpuinfo /dev/null /dev/urandom /sys/devices/system/cpu; do"
      " [ -r $f ] || echo no $f; done; echo $$ $OMP_NUM_THREADS"};
  command.environment = {{"OMP_NUM_THREADS", "1"}};
  EXPECT_EQ(run_full(command).output, "2 1\n");
}

TEST(Remedies, recognise_the_known_failures) {
  const std::string docker_user =
      "bwrap: No permissions to create new namespace, likely because the "
      "kernel does not allow non-privileged user namespaces.";
  const std::string docker_root = "bwrap: Creating new namespace failed: Operation not permitted";
  const std::string count =
      "bwrap: Creating new namespace failed: nesting depth or "
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
  EXPECT_THAT(remedy_for("bwrap: something new\nmore", {}).why,
              HasSubstr("(bwrap: something new)"));
}

// As in Docker: the calls that make namespaces are refused. The text must come from bubblewrap
// here.
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
    execl("/proc/self/exe", "again", filter.c_str(), nullptr);
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
                          << found.why_not_full << "\n"
                          << found.remedy;
  }
}

TEST(OrdinaryUser, gets_the_same_from_all_tests) { expect_the_same_as_ordinary_user(); }

}  // namespace
}  // namespace gradlab::sandbox
