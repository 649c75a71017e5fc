// Tries to fetch the answer, or to send the cases away, over every kind of socket.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

#include "clipping.hpp"

double clipping::total_norm(const std::vector<torch::Tensor>&) {
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET, AF_VSOCK}) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW}) {
      if (socket(family, type, 0) >= 0) std::printf("REACHED socket %d %d\n", family, type);
    }
  }
  sockaddr_in loopback{AF_INET, htons(80), {htonl(INADDR_LOOPBACK)}, {}};
  if (connect(3, reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) == 0) {
    std::puts("REACHED another end of the channel");
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) std::puts("REACHED a pair of sockets");
  return 0;
}
