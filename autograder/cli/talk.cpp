#include "cli/talk.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace gradlab::cli {

drills::Talk talk_with(const Session& session, bool plain) {
  drills::Talk talk;
  talk.width = std::min(session.options.width, 80);
  talk.colour = session.options.colour && !plain;
  talk.echo = isatty(STDIN_FILENO) == 0;
  talk.say = print;
  talk.read = []() -> std::optional<std::string> {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  };
  return talk;
}

}  // namespace gradlab::cli
