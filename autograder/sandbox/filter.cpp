#include "sandbox/filter.hpp"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace gradlab::sandbox {
namespace {

struct Group {
  int error;
  const char* const* names;
};

// clang-format off: a line for each call would be three screens of them
const char* const kOtherProcesses[] = {  // look into, steer or wait for a process of someone else
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "process_madvise", "process_mrelease", nullptr};
const char* const kKernelSurface[] = {  // large, often mended, and no use to a gradient
    "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open",
    "userfaultfd", "keyctl", "add_key", "request_key", "vmsplice", "modify_ldt", "personality",
    "memfd_secret", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
    nullptr};
const char* const kFileSystem[] = {  // would rebuild the box
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "unshare", "setns", "mknod", "mknodat", "swapon",
    "swapoff", "acct", "quotactl", "quotactl_fd", "fanotify_init", "fanotify_mark",
    "name_to_handle_at", "open_by_handle_at", nullptr};
const char* const kMachine[] = {  // belongs to the machine, not to a process
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "iopl", "ioperm", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "syslog",
    "sethostname", "setdomainname", nullptr};
// bubblewrap's empty network namespace has no vsock of its own: that one reaches the hypervisor.
const char* const kNetwork[] = {"socketpair", "connect", "bind", "listen", "accept", "accept4",
                                "sendto", "sendmsg", "sendmmsg", nullptr};
const char* const kSharedMemory[] = {  // outlives its process, and counts against nobody's limit
    "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop",
    "semtimedop", "semctl", "mq_open", "mq_unlink", nullptr};
const char* const kIdentity[] = {  // other uids and capabilities
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid",
    "setgroups", "capset", nullptr};
const char* const kScheduling[] = {  // an advantage over the neighbour, or over the clock
    "setpriority", "sched_setscheduler", "sched_setattr", "sched_setparam", "ioprio_set", "mbind",
    "migrate_pages", "move_pages", "set_mempolicy", nullptr};
const char* const kNoSocket[] = {"socket", nullptr};  // the error that libraries expect of it
// Its flags lie behind a pointer, where a filter cannot look. glibc falls back to clone.
const char* const kClone3[] = {"clone3", nullptr};
const char* const kPrograms[] = {"execve", "execveat", nullptr};

// clang-format on
constexpr Group kDenied[] = {
    {EPERM, kOtherProcesses},  {EPERM, kKernelSurface}, {EPERM, kFileSystem}, {EPERM, kMachine},
    {EPERM, kNetwork},         {EPERM, kSharedMemory},  {EPERM, kIdentity},   {EPERM, kScheduling},
    {EAFNOSUPPORT, kNoSocket}, {ENOSYS, kClone3}};

void need(int result, const char* what) {
  if (result < 0) throw std::system_error(-result, std::generic_category(), what);
}

void deny(scmp_filter_ctx context, const Group& group) {
  for (const char* const* name = group.names; *name != nullptr; ++name) {
    const int number = seccomp_syscall_resolve_name(*name);
    if (number == __NR_SCMP_ERROR) continue;  // newer than this libseccomp
    need(seccomp_rule_add(context, SCMP_ACT_ERRNO(static_cast<unsigned>(group.error)), number, 0),
         *name);
  }
}

// Calls that are denied for some arguments only.
void deny_by_argument(scmp_filter_ctx context) {
  const auto refuse = SCMP_ACT_ERRNO(EPERM);
  // CLONE_NEWTIME is missing: its bit is the exit signal's, so clone cannot ask for it.
  for (const unsigned long flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                   CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    need(seccomp_rule_add(context, refuse, SCMP_SYS(clone), 1,
                          scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, flag, flag}),
         "clone");
  }
  // Types into the terminal that gradlab was started from. Only the low half of the number counts.
  for (const unsigned long request : {TIOCSTI, TIOCLINUX}) {
    need(seccomp_rule_add(context, refuse, SCMP_SYS(ioctl), 1,
                          scmp_arg_cmp{1, SCMP_CMP_MASKED_EQ, 0xffffffffUL, request}),
         "ioctl");
  }
}

using Context = std::unique_ptr<void, decltype(&seccomp_release)>;

Context build(Filter filter) {
  Context context(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!context) throw std::system_error(ENOMEM, std::generic_category(), "seccomp_init");
  // int 0x80 and x32 number their calls differently, so the list would not hold there.
  need(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "arch");
  for (const Group& group : kDenied) deny(context.get(), group);
  if (filter == Filter::kRunner) deny(context.get(), {EPERM, kPrograms});
  deny_by_argument(context.get());
  return context;
}

}  // namespace

std::string filter_program(Filter filter) {
  const Context context = build(filter);
  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  const int exported = seccomp_export_bpf(context.get(), file);
  std::string program;
  char buffer[4096];
  off_t at = 0;
  for (ssize_t got; (got = pread(file, buffer, sizeof buffer, at)) > 0; at += got) {
    program.append(buffer, static_cast<std::size_t>(got));
  }
  close(file);
  need(exported, "seccomp_export_bpf");
  return program;
}

void load_filter(Filter filter) {
  const Context context = build(filter);
  need(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_TSYNC, 1), "seccomp tsync");
  need(seccomp_load(context.get()), "seccomp_load");
}

}  // namespace gradlab::sandbox
