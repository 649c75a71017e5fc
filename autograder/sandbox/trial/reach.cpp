// What a box must not reach.
#include <fcntl.h>
#include <linux/capability.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/trial/trials.hpp"

extern char** environ;

namespace gradlab::trial {

void read_files(const Words& paths) {
  for (const auto& path : paths) {
    got(open(path.c_str(), O_RDONLY | O_NONBLOCK) >= 0, "read " + path);
  }
}

void write_files(const Words& paths) {
  for (const auto& path : paths) {
    got(open(path.c_str(), O_WRONLY | O_CREAT, 0600) >= 0, "wrote " + path);
    got(unlink(path.c_str()) == 0, "removed " + path);
  }
}

void empty_files(const Words& paths) {
  for (const auto& path : paths) got(truncate(path.c_str(), 0) == 0, "emptied " + path);
}

void sockets(const Words&) {
  constexpr struct {
    int family;
    const char* name;
  } kFamilies[] = {{AF_INET, "IPv4"},   {AF_INET6, "IPv6"},      {AF_UNIX, "unix"},
                   {AF_VSOCK, "vsock"}, {AF_NETLINK, "netlink"}, {AF_PACKET, "packet"}};
  for (const auto& each : kFamilies) {
    got(socket(each.family, SOCK_STREAM, 0) >= 0 || socket(each.family, SOCK_DGRAM, 0) >= 0 ||
            socket(each.family, SOCK_RAW, 0) >= 0,
        std::string("a socket of ") + each.name);
  }
  int ends[2];
  got(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
}

void signals(const Words& words) {
  const pid_t other = std::stoi(words.at(0));
  got(kill(other, SIGCONT) == 0, "signalled a process of another");
  kill(other, SIGKILL);
}

void capabilities(const Words&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct have[2]{};
  syscall(SYS_capget, &header, have);
  for (const auto& each : have) {
    got((each.effective | each.permitted | each.inheritable) != 0, "a capability");
  }
  for (int number = 0; number <= CAP_LAST_CAP; ++number) {
    got(prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1, "a capability of the bounding set");
  }
  got(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1, "new privileges");
  got(syscall(SYS_setresuid, 0, 0, 0) == 0, "uid 0");
  got(syscall(SYS_setgroups, 0, nullptr) == 0, "other groups");
}

void namespaces(const Words&) {
  const pid_t made = static_cast<pid_t>(
      syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (made == 0) _exit(0);
  got(made > 0, "a user namespace by clone");
  got(mount("tmpfs", ".", "tmpfs", 0, nullptr) == 0, "a mount");
  got(unshare(CLONE_NEWNS) == 0, "a mount namespace");
  got(unshare(CLONE_NEWUSER) == 0, "a user namespace");
}

void trace(const Words&) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  got(ptrace(PTRACE_ATTACH, child, nullptr, nullptr) == 0, "tracing its child");
  got(syscall(SYS_pidfd_open, child, 0) >= 0, "a pidfd");
  kill(child, SIGKILL);
}

void kernel(const Words&) {
  got(syscall(SYS_keyctl, 0, -3, 1) >= 0, "a keyring");
  got(syscall(SYS_add_key, "user", "gradlab", "x", 1, -3) >= 0, "a key");
  got(syscall(SYS_userfaultfd, 1) >= 0, "userfaultfd");
  char parameters[256] = {};
  got(syscall(SYS_io_uring_setup, 4, parameters) >= 0, "io_uring");
  for (const int number : {SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup}) {
    syscall(number, 0, nullptr, 0, 0, 0);
    got(errno != EPERM && errno != ENOSYS, "system call " + std::to_string(number));
  }
}

void shared_memory(const Words&) {
  const int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  got(memory >= 0, "System V memory");
  const int semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  got(semaphore >= 0, "System V semaphores");
  const int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  got(queue >= 0, "System V messages");
  got(mq_open("/gradlab-trial", O_CREAT | O_RDWR, 0600, nullptr) >= 0, "POSIX messages");
  got(shm_open("/gradlab-trial", O_CREAT | O_RDWR, 0600) >= 0, "POSIX memory");
  if (memory >= 0) shmctl(memory, IPC_RMID, nullptr);
  if (semaphore >= 0) semctl(semaphore, 0, IPC_RMID);
  if (queue >= 0) msgctl(queue, IPC_RMID, nullptr);
  mq_unlink("/gradlab-trial");
  shm_unlink("/gradlab-trial");
}

void environment(const Words&) {
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string name = std::string(*each).substr(0, std::string(*each).find('='));
    got(name != "PATH" && name != "PWD" && name != "TMPDIR", "$" + name);
  }
}

void descriptors(const Words&) {
  for (int number = 3; number < 4096; ++number) {
    got(fcntl(number, F_GETFD) >= 0, "descriptor " + std::to_string(number));
  }
}

void see(const Words& paths) {
  struct stat found{};
  for (const auto& path : paths) got(stat(path.c_str(), &found) == 0, "saw " + path);
}

void see_process(const Words& words) {
  struct stat found{};
  got(stat(("/proc/" + words.at(0)).c_str(), &found) == 0, "saw a process");
}

void path(const Words&) {
  char text[4096];
  got(readlink("/proc/self/exe", text, sizeof text) > 0, "its own path");
}

void host_name(const Words& words) {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  got(name == words.at(0), "the name " + words.at(0));
}

}  // namespace gradlab::trial
