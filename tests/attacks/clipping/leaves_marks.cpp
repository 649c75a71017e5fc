// Leaves something by its name wherever it is let: a file, shared memory, a socket, a queue.
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "clipping.hpp"

double clipping::total_norm(const std::vector<torch::Tensor>&) {
  const std::string mark = "/gradlab-attack-mark";
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "/dev", "/run", "/in", "/box", "/home",
                             "/root", "/opt/libtorch", "/proc", "/usr/lib", ""}) {
    const int file = open((folder + mark).c_str(), O_CREAT | O_WRONLY, 0666);
    if (file >= 0 && std::strcmp(folder, "/tmp") != 0) std::printf("REACHED %s\n", folder);
    mkfifo((folder + mark + ".pipe").c_str(), 0666);
  }
  if (shm_open(mark.c_str(), O_CREAT | O_RDWR, 0666) >= 0) std::puts("REACHED shared memory");
  if (shmget(0x67726164, 4096, IPC_CREAT | 0666) >= 0) std::puts("REACHED System V memory");
  if (msgget(0x67726164, IPC_CREAT | 0666) >= 0) std::puts("REACHED a message queue");
  if (semget(0x67726164, 1, IPC_CREAT | 0666) >= 0) std::puts("REACHED a semaphore");
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, mark.data(), mark.size());
  const int door = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(door, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0) {
    std::puts("REACHED an abstract socket");
  }
  return 0;
}
