#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/box.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/remedies.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox {
namespace {

// A door that is open to everybody on this machine: the box must not reach it. Port 0: we could not
// open one, and then the network is not looked at.
struct Listener {
  Descriptor socket;
  int port = 0;
};

Listener listen_here() {
  Listener listener{Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.socket.get(), any, size) == 0 && listen(listener.socket.get(), 1) == 0 &&
      getsockname(listener.socket.get(), any, &size) == 0) {
    listener.port = ntohs(address.sin_port);
  }
  return listener;
}

Command question(int port) {
  Command command;
  // Builtins alone: a program more costs as much as all of this.
  command.argv = {"/usr/bin/bash", "-c",
                  "exec 2>&-\n"
                  "for file in /etc/passwd /root /home /proc/1 /sys/kernel; do\n"
                  "  if : < $file; then echo \"$file can be read in it\"; exit; fi\n"
                  "done\n"
                  "if : > /usr/bin/gradlab-probe; then echo '/usr can be written'; exit; fi\n"
                  "if [ $1 -gt 0 ] && : <> /dev/tcp/127.0.0.1/$1; then\n"
                  "  echo 'the network can be reached from it'; exit\n"
                  "fi\n"
                  "echo confined\n",
                  "probe", std::to_string(port)};
  command.limits.wall_seconds = 10;
  command.limits.cpu_seconds = 5;
  return command;
}

Probe ask() {
  Probe answer;
  const Listener listener = listen_here();
  const auto not_full = [&](const Remedy& remedy) {
    answer.why_not_full = remedy.why;
    answer.remedy = remedy.lines;
    return answer;
  };
  // run() reports everything as a Result; the two reasons that are ours come first.
  if (access("/usr/bin/bwrap", X_OK) != 0 && access("/usr/local/bin/bwrap", X_OK) != 0 &&
      access("/bin/bwrap", X_OK) != 0) {
    return not_full(remedy_without_bubblewrap());
  }
  const Result result = run(question(listener.port), Isolation::kFull);
  if (result.ending != Ending::kExited || result.code != 0) {
    return not_full(remedy_for(result.output.empty() ? result.why : result.output, this_machine()));
  }
  if (result.output != "confined\n") {
    return not_full(remedy_for_leak(result.output.substr(0, result.output.find('\n'))));
  }
  answer.best = Isolation::kFull;
  return answer;
}

}  // namespace

const std::string& probe_container() {
  static const std::string why = [] {
    if (!why_no_container().empty()) return why_no_container();
    const Listener listener = listen_here();
    const Result result = run(question(listener.port), Isolation::kContainer);
    if (result.ending != Ending::kExited || result.code != 0) {
      return result.why.empty() ? result.output : result.why;
    }
    const std::string first = result.output.substr(0, result.output.find('\n'));
    return first == "confined" ? std::string() : "the sandbox starts, but " + first;
  }();
  return why;
}

const Probe& probe() {
  static const Probe answer = ask();
  return answer;
}

}  // namespace gradlab::sandbox
