#include "sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "sandbox/errors.hpp"

// As in linux/landlock.h, which may be older than the kernel. The numbers are the same on all
// architectures.
namespace gradlab::sandbox {
namespace {

constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }
constexpr std::uint64_t kExecute = bit(0);
constexpr std::uint64_t kWriteFile = bit(1);
constexpr std::uint64_t kReadFile = bit(2);
constexpr std::uint64_t kReadFolder = bit(3);
constexpr std::uint64_t kRemoveFolder = bit(4);
constexpr std::uint64_t kRemoveFile = bit(5);
constexpr std::uint64_t kMakeFolder = bit(7);
constexpr std::uint64_t kMakeFile = bit(8);
constexpr std::uint64_t kMakeLink = bit(12);
constexpr std::uint64_t kMoveBetween = bit(13);   // version 2
constexpr std::uint64_t kTruncate = bit(14);      // version 3
constexpr int kBits[] = {0, 13, 14, 15, 15, 16};  // access rights by version; later ones add none

constexpr std::uint64_t kTcp = bit(0) | bit(1);                 // bind, connect: version 4
constexpr std::uint64_t kAbstractAndSignals = bit(0) | bit(1);  // version 6

struct Ruleset {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed;
  std::int32_t folder;
};

std::uint64_t known_to(int abi) { return bit(kBits[std::min(abi, 5)]) - 1; }

std::uint64_t access_of(Reach reach) {
  switch (reach) {
    case Reach::kRead:
      return kExecute | kReadFile | kReadFolder;
    case Reach::kDevice:
      return kReadFile | kWriteFile;
    case Reach::kWrite:
      break;
  }
  return kReadFile | kReadFolder | kWriteFile | kRemoveFolder | kRemoveFile | kMakeFolder |
         kMakeFile | kMakeLink | kMoveBetween | kTruncate;
}

void add(int ruleset, const Opening& opening, int abi) {
  const Descriptor place(open(opening.path.c_str(), O_PATH | O_CLOEXEC));
  struct stat found{};
  if (!place || fstat(place.get(), &found) != 0) {
    throw errors::system_call("opening " + opening.path, errno);
  }
  std::uint64_t allowed = access_of(opening.reach) & known_to(abi);
  // The kernel refuses a rule that gives a file what only a folder can have.
  if (!S_ISDIR(found.st_mode)) allowed &= kExecute | kReadFile | kWriteFile | kTruncate;
  const PathBeneath rule{allowed, place.get()};
  if (syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0) {
    throw errors::system_call("a Landlock rule for " + opening.path, errno);
  }
}

}  // namespace

int landlock_abi() {
  return static_cast<int>(std::max(0L, syscall(kCreateRuleset, nullptr, 0, kAskVersion)));
}

Descriptor landlock_ruleset(const std::vector<Opening>& openings, int abi) {
  const Ruleset handled{known_to(abi), abi >= 4 ? kTcp : 0, abi >= 6 ? kAbstractAndSignals : 0};
  // An older kernel takes the longer form as long as what it does not know is 0.
  Descriptor ruleset(static_cast<int>(syscall(kCreateRuleset, &handled, sizeof handled, 0)));
  if (!ruleset) throw errors::system_call("a Landlock ruleset", errno);
  fcntl(ruleset.get(), F_SETFD, FD_CLOEXEC);
  for (const Opening& opening : openings) add(ruleset.get(), opening, abi);
  return ruleset;
}

bool landlock_enter(int ruleset) { return syscall(kRestrictSelf, ruleset, 0) == 0; }

}  // namespace gradlab::sandbox
