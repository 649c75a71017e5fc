#include "cli/build.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/messages.hpp"
#include "cli/process.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

// ninja has no lock of its own: two commands at once would build into each other's files.
class Lock {
 public:
  explicit Lock(const fs::path& file)
      : descriptor_(open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

void list_into(std::string& listing, const fs::path& root, const fs::path& folder,
               const std::string& ending) {
  // A lab whose folder is a link to elsewhere is one, too.
  constexpr auto kOptions = fs::directory_options::follow_directory_symlink;
  std::error_code missing;
  std::vector<std::string> names;
  for (fs::recursive_directory_iterator at(root / folder, kOptions, missing), end;
       !missing && at != end; at.increment(missing)) {
    const std::string name = at->path().lexically_relative(root).string();
    if (name.ends_with(ending)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  for (const auto& name : names) listing += name + "\n";
}

// The files that CMake finds by looking: it must look again when this text changes.
std::string listing_of(const fs::path& root) {
  std::string listing;
  list_into(listing, root, "labs", "lab.toml");
  for (const char* folder : {"autograder/checks", "autograder/experiments", "reference"}) {
    list_into(listing, root, folder, ".cpp");
  }
  return listing;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string toolchain_value(const fs::path& root, const std::string& key) {
  std::ifstream in(root / ".gradlab" / "toolchain");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key + "=")) return line.substr(key.size() + 1);
  }
  return "";
}

// A build folder and the preset that it is made by.
struct Folder {
  fs::path path;
  std::string preset;
};

void configure(const fs::path& root, const Folder& folder, const std::string& listing) {
  std::vector<std::string> argv = {"cmake"};
  if (fs::exists(folder.path / "CMakeCache.txt")) {
    argv.insert(argv.end(), {"-S", root.string(), "-B", folder.path.string()});
  } else {
    argv.insert(argv.end(), {"--preset", folder.preset});
    const std::string compiler = toolchain_value(root, "COMPILER");
    if (!compiler.empty()) argv.push_back("-DCMAKE_CXX_COMPILER=" + compiler);
  }
  const auto done = run_captured(argv, root.string());
  if (done.status != 0) throw messages::build_failed("cmake", done.output);
  std::ofstream(folder.path / "listing.txt", std::ios::binary) << listing;
}

// The end of a build's output, from the first failure on: what is above it went well.
std::string failure_in(const std::string& output) {
  constexpr size_t kMost = 4000;
  const size_t failed = output.find("FAILED: ");
  std::string text = failed == std::string::npos ? output : output.substr(failed);
  if (text.size() > kMost) text = text.substr(0, kMost) + "\n[...]\n";
  return text;
}

void configure_if_needed(const fs::path& root, const Folder& folder) {
  const std::string listing = listing_of(root);
  if (!fs::exists(folder.path / "build.ninja") || text_of(folder.path / "listing.txt") != listing) {
    configure(root, folder, listing);
  }
}

fs::path lock_file(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw messages::not_written(folder.string(), error.message());
  return folder / ".lock";
}

void bring_up_to_date(const Workspace& workspace, const std::string& target,
                      const std::string& what, bool first) {
  const Folder folder{workspace.build_dir(), "release"};
  const Lock lock(lock_file(folder.path));
  configure_if_needed(workspace.root(), folder);
  Watch watch;
  watch.after_patience = [&] { note(messages::building(what, first)); };
  const auto done =
      run_captured({"ninja", "-C", folder.path.string(), target}, workspace.root().string(), watch);
  if (done.status != 0) {
    throw messages::build_failed("ninja " + target, failure_in(done.output));
  }
}

}  // namespace

void ensure_built(const Workspace& workspace, const std::string& slug) {
  bring_up_to_date(workspace, "lab_" + slug, fmt::format("the {} lab", slug),
                   !fs::exists(workspace.program("judge_" + slug)));
}

void ensure_target(const Workspace& workspace, const std::string& target, const std::string& what) {
  bring_up_to_date(workspace, target, what, !fs::exists(workspace.program(target)));
}

void build_tests(const Workspace& workspace, bool terminal) {
  const Folder folder{workspace.root() / "build" / "dev", "dev"};
  const Lock lock(lock_file(folder.path));
  if (!fs::exists(folder.path / "build.ninja")) note("configuring the tests in build/dev");
  configure_if_needed(workspace.root(), folder);
  std::vector<std::string> argv = {"ninja", "-C", folder.path.string()};
  if (!terminal) argv.push_back("--quiet");
  if (run_through(argv, workspace.root().string()) != 0) {
    throw messages::build_failed("ninja in build/dev", "");
  }
}

}  // namespace gradlab::cli
