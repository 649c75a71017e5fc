// The one list of what a weaker isolation leaves open. promises.cpp tries each of these out.
#include "sandbox/landlock.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox {
namespace {

std::vector<std::string> of_container() {
  std::vector<std::string> open{
      "A hand-in can tell which files of the image exist, but not read or list them.",
      "It can tell which process numbers are in use, but not read or signal a process.",
      "It meets files under their real paths, its own program among them.",
      "Its temporary files lie on the disk: the size of each is bounded, their number is not.",
      "It sees the host's name and the number of its kernel."};
  if (landlock_abi() < 3) {
    open.emplace_back("On this kernel (before Linux 6.2) it can empty files that all may write.");
  }
  return open;
}

}  // namespace

std::vector<std::string> not_promised(Isolation isolation) {
  switch (isolation) {
    case Isolation::kFull:
      return {};
    case Isolation::kContainer:
      return of_container();
    case Isolation::kNone:
      break;
  }
  return {"Nothing but limits of time, memory and output holds a hand-in."};
}

}  // namespace gradlab::sandbox
