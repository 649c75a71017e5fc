#include "cli/keys.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace gradlab::cli {
namespace {

constexpr char kEscape = 27;

// For the signal handler, which can reach no object.
termios as_it_was;
bool changed = false;

void put_back() {
  if (changed) tcsetattr(STDIN_FILENO, TCSANOW, &as_it_was);
}

void single_keys() {
  termios single = as_it_was;
  single.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  single.c_cc[VMIN] = 1;
  single.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &single);
}

// The terminal as it was, then what the signal does by itself.
void on_end(int number) {
  put_back();
  signal(number, SIG_DFL);
  raise(number);
}

void on_continue(int) {
  if (changed) single_keys();
  signal(SIGTSTP, on_end);
}

}  // namespace

Keys::Keys(bool single) : single_(single && tcgetattr(STDIN_FILENO, &as_it_was) == 0) {
  if (!single_) return;
  changed = true;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) signal(number, on_end);
  signal(SIGCONT, on_continue);
  single_keys();
}

Keys::~Keys() {
  if (!single_) return;
  put_back();
  changed = false;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT}) {
    signal(number, SIG_DFL);
  }
}

std::optional<char> Keys::next() {
  char key = 0;
  const ssize_t n = read(STDIN_FILENO, &key, 1);
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) open_ = false;
  if (n != 1) return std::nullopt;
  if (single_ && key == kEscape) {  // an arrow key, say: none of ours
    pollfd more{STDIN_FILENO, POLLIN, 0};
    while (poll(&more, 1, 0) == 1 && read(STDIN_FILENO, &key, 1) == 1) {
    }
    return std::nullopt;
  }
  if (single_) return key;
  const bool first = line_begins_;
  line_begins_ = key == '\n';
  return first && key != '\n' ? std::optional(key) : std::nullopt;
}

void Keys::lend() {
  if (single_) put_back();
}

void Keys::take_back() {
  if (single_) single_keys();
}

}  // namespace gradlab::cli
