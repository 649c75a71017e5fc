// What a box must not use up or leave behind.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "sandbox/trial/trials.hpp"

namespace gradlab::trial {
namespace {

// Bytes written of 2 MiB.
long fill(const char* name) {
  signal(SIGXFSZ, SIG_IGN);
  const std::string block(1 << 16, 'x');
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  long size = 0;
  for (int i = 0; i < 32 && file >= 0; ++i) {
    const ssize_t wrote = write(file, block.data(), block.size());
    if (wrote <= 0) break;
    size += wrote;
  }
  close(file);
  return size;
}

}  // namespace

void forks(const Words& words) {
  int made = 0;
  std::vector<pid_t> children;
  for (; made < 200; ++made) {
    const pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      for (;;) pause();
    }
    children.push_back(pid);
  }
  got(made > std::stoi(words.at(0)), std::to_string(made) + " processes");
  for (const pid_t pid : children) kill(pid, SIGKILL);
}

void memory(const Words&) {
  for (const int how : {MAP_PRIVATE, MAP_SHARED}) {
    got(mmap(nullptr, 3UL << 30, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
        "3 GiB of memory");
  }
}

[[noreturn]] void burn(const Words&) {
  for (volatile unsigned turn = 0;;) turn = turn + 1;
}

void large_file(const Words&) {
  const long size = fill("large");
  unlink("large");
  got(size > 1 << 20, "a file of " + std::to_string(size) + " bytes");
}

void many_files(const Words&) {
  long size = 0;
  for (int i = 0; i < 8; ++i) size += fill(("many" + std::to_string(i)).c_str());
  got(size > 5 << 20, "files of " + std::to_string(size) + " bytes together");
}

void open_files(const Words& words) {
  int count = 0;
  while (count < 5000 && open("/dev/null", O_RDONLY) >= 0) ++count;
  got(count > std::stoi(words.at(0)), std::to_string(count) + " open files");
}

[[noreturn]] void flood(const Words&) {
  for (;;) std::puts("more");
}

void daemon_left(const Words&) {
  if (fork() != 0) return;
  setsid();
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
  if (fork() != 0) _exit(0);
  for (int number = 0; number < 3; ++number) close(number);
  for (int second = 0; second < 60; ++second) sleep(1);
  _exit(0);
}

void temporary(const Words&) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(".", failed)) {
    got(true, "found " + entry.path().string());
  }
  got(bool(failed), "it cannot be read");
  struct stat here{};
  stat(".", &here);
  got((here.st_mode & S_IWOTH) != 0, "others may write in it");
  got(open("left", O_WRONLY | O_CREAT, 0600) < 0, "it cannot be written");
}

}  // namespace gradlab::trial
