#include "sandbox/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "sandbox/descriptor.hpp"

namespace gradlab::sandbox {
namespace {

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  // A descriptor of its own: closedir closes it, and reading moves it.
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(again), closedir);
  if (!listing) return names;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

// Moves what lies in a folder of `top` into `top` itself, then removes the folder: so a tree that
// is deeper than descriptors or path names reach is taken apart from above.
bool flatten(int top, const std::string& name, unsigned long& counter) {
  if (unlinkat(top, name.c_str(), AT_REMOVEDIR) == 0) return true;
  fchmodat(top, name.c_str(), 0700, 0);
  const Descriptor folder(
      openat(top, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return false;
  for (const std::string& inner : names_in(folder.get())) {
    if (unlinkat(folder.get(), inner.c_str(), 0) == 0) continue;
    std::string moved;
    do {
      moved = fmt::format("{}", counter++);
    } while (faccessat(top, moved.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    if (renameat(folder.get(), inner.c_str(), top, moved.c_str()) != 0) return false;
  }
  return unlinkat(top, name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace

void remove_tree(const std::string& path) {
  const Descriptor top(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!top) return;
  unsigned long counter = 0;
  for (auto names = names_in(top.get()); !names.empty(); names = names_in(top.get())) {
    for (const std::string& name : names) {
      if (unlinkat(top.get(), name.c_str(), 0) != 0 && !flatten(top.get(), name, counter)) return;
    }
  }
  rmdir(path.c_str());
}

}  // namespace gradlab::sandbox
