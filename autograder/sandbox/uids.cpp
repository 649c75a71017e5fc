#include "sandbox/uids.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sandbox/errors.hpp"
#include "sandbox/keeper.hpp"
#include "sandbox/privilege.hpp"
#include "sandbox/processes.hpp"
#include "sandbox/remove_tree.hpp"

namespace gradlab::sandbox {
namespace fs = std::filesystem;
namespace {

constexpr int kTries = 2500;  // of 2 ms each: for killed processes to be gone

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    throw errors::system_call("getrandom", errno);
  }
  return number;
}

// Where a box may have its folder: TMPDIR, unless it is root's alone.
std::string temporary_folder() {
  std::error_code ignored;
  const std::string wanted = fs::temp_directory_path(ignored).string();
  return !wanted.empty() && barrier_to(wanted).empty() ? wanted : "/tmp";
}

uid_t uid_of(unsigned pair) { return kFirstOwnUid + 2 * pair; }

std::string lock_path(const std::string& locks, unsigned pair) {
  return fmt::format("{}/{}", locks, uid_of(pair));
}

bool belongs_to(const fs::path& process, uid_t uid) {
  std::ifstream status(process / "status");
  bool dead = false;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) dead = line.find('Z') != std::string::npos;
    if (!line.starts_with("Uid:")) continue;
    std::istringstream numbers(line.substr(4));
    for (uid_t each = 0; numbers >> each;) {
      if (each == uid) return !dead;
    }
  }
  return false;
}

// Does a process run under this uid? Yes, too, where /proc does not tell.
bool has_processes(uid_t uid) {
  const auto all = numbers_in("/proc");
  return all.empty() || std::any_of(all.begin(), all.end(), [uid](pid_t pid) {
           return belongs_to("/proc/" + std::to_string(pid), uid);
         });
}

std::string content_of(int file) {
  char text[4096];
  const ssize_t got = pread(file, text, sizeof text, 0);
  return {text, got > 0 ? static_cast<std::size_t>(got) : 0};
}

// Only what a lease made: its name, and its owner or still root.
void remove_folder(const std::string& folder, uid_t uid) {
  struct stat found{};
  if (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return;
  if (found.st_uid == uid || found.st_uid == 0) remove_tree(folder);
}

}  // namespace

std::string barrier_to(const std::string& path) {
  std::error_code failed;
  fs::path at = fs::canonical(path, failed);
  if (failed) return path;
  struct stat found{};
  for (bool last = true; at.has_relative_path() || last; at = at.parent_path(), last = false) {
    const bool folder = stat(at.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
    const mode_t needed = last ? (folder ? S_IROTH | S_IXOTH : S_IROTH) : S_IXOTH;
    if ((found.st_mode & needed) != needed) return at.string();
    if (!at.has_relative_path()) break;
  }
  return {};
}

// Kills what is left of a box. False: some of it is still there.
bool Lease::clear() const {
  for (int left = kTries; left > 0; --left) {
    const pid_t pid = fork();
    if (pid == 0) kill_all_of(uid(), killer());
    while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (pid > 0 && !has_processes(uid())) return true;
    usleep(2000);
  }
  return false;
}

void Lease::make_folder() {
  folder_ = fmt::format("{}/gradlab-box-{:016x}", temporary_folder(), random_number());
  // First noted, then made: at no moment can a kill leave one that nobody knows of.
  if (ftruncate(lock(), 0) != 0 ||
      pwrite(lock(), folder_.data(), folder_.size(), 0) != static_cast<ssize_t>(folder_.size()) ||
      mkdir(folder_.c_str(), 0700) != 0 || lchown(folder_.c_str(), uid(), uid()) != 0) {
    throw errors::system_call("making " + folder_, errno);
  }
}

// Null when another has it, or when what was left in it does not end.
std::shared_ptr<Lease> Lease::take_pair(const std::string& locks, unsigned pair) {
  const uid_t uid = uid_of(pair);
  const std::string path = lock_path(locks, pair);
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) throw errors::system_call("opening " + path, errno);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return nullptr;
    throw errors::system_call("locking " + path, errno);
  }
  std::shared_ptr<Lease> lease(new Lease(uid, std::move(file)));
  const std::string left = content_of(lease->lock());
  if (!left.empty()) {
    if (!lease->clear()) return nullptr;
    remove_folder(left, uid);
  }
  lease->make_folder();
  return lease;
}

std::shared_ptr<Lease> Lease::take() {
  const std::string locks = root_folder("/run/gradlab-uids", "/tmp/gradlab-uids", 0700);
  const auto first = static_cast<unsigned>(random_number() % kOwnUids);
  // First those that a killed process did not clean up.
  for (const bool unclean : {true, false}) {
    for (unsigned i = 0; i < kOwnUids; ++i) {
      const unsigned pair = (first + i) % kOwnUids;
      struct stat found{};
      const bool noted = stat(lock_path(locks, pair).c_str(), &found) == 0 && found.st_size > 0;
      if (noted != unclean) continue;
      if (auto lease = take_pair(locks, pair)) return lease;
    }
  }
  throw errors::no_uid_left(kOwnUids);
}

Lease::~Lease() {
  if (folder_.empty()) return;
  if (!all_ended_ && !clear()) return;  // the next to take this uid tries again
  remove_folder(folder_, uid());
  if (access(folder_.c_str(), F_OK) == 0 || ftruncate(lock(), 0) != 0) return;
  flock(lock(), LOCK_UN);  // a forked process may still hold a copy of the descriptor
}

}  // namespace gradlab::sandbox
