#include "compile/precompiled.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "compile/diagnostics.hpp"
#include "compile/errors.hpp"
#include "compile/files.hpp"
#include "compile/functions.hpp"
#include "compile/header_parts.hpp"

namespace gradlab::compile {
namespace fs = std::filesystem;
namespace {

constexpr auto kUnusedFor = std::chrono::hours(24 * 30);  // then a header makes room: it is 80 MB

std::string file_name(const Toolchain& toolchain) {
  return toolchain.clang ? kHeaderFile : "all.hpp.gch";
}

sandbox::Limits build_limits() {
  sandbox::Limits limits;
  limits.cpu_seconds = 240;
  limits.wall_seconds = 900;
  limits.address_space = 6144 * sandbox::kMiB;
  limits.file_size = 1024 * sandbox::kMiB;
  limits.open_files = kOpenFiles;
  limits.output = 1024 * 1024;
  return limits;
}

// "a" "b\"c" -> a, b"c
std::vector<std::string> split_quoted(const std::string& line) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      inside = !inside;
      if (inside) words.emplace_back();
    } else if (inside) {
      if (line[i] == '\\' && i + 1 < line.size()) ++i;
      words.back() += line[i];
    }
  }
  return words;
}

void ask_link_line(const Place& place) {
  sandbox::Command command = box(place);
  command.limits = build_limits();
  command.argv = {place.toolchain.compiler,      "-###", "-shared", "-fPIC",
                  std::string("-Wl,") + kInputs, "-o",   kOutput};
  if (access("/usr/bin/mold", X_OK) == 0) {
    // One thread: the file is small, and mold's threads count against the limit of processes.
    command.argv.insert(command.argv.begin() + 1, {"-fuse-ld=mold", "-Wl,--no-threads"});
  }
  const sandbox::Result result = run(command, place.isolation);
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(kInputs) == std::string::npos) continue;
    std::string text;
    for (const std::string& word : split_quoted(line)) text += word + "\n";
    write_file(place.header + "/link", text);
    return;
  }
  throw errors::no_link_line(result.output + result.why);
}

// Into the folder `out` of the host.
void compile_header(const Place& place, const std::string& out, bool share_functions) {
  sandbox::Command command = box(place);
  command.mounts.push_back({out, kOut, true});
  command.limits = build_limits();
  command.argv = compiler(place, command);
  const auto inside = [&](const std::string& path) {
    return path_inside(command, place.isolation, path);
  };
  command.argv.insert(command.argv.end(),
                      {"-x", "c++-header", inside(std::string(kHeader) + "/all.hpp"), "-o",
                       inside(kOut + ("/" + file_name(place.toolchain)))});
  if (place.toolchain.clang) {
    command.argv.insert(command.argv.end(),
                        {"-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp"});
  }
  if (share_functions) command.argv.emplace_back(kShareFunctions);
  const sandbox::Result result = run(command, place.isolation);
  const std::string made = out + "/" + file_name(place.toolchain);
  struct stat found{};
  const bool good = result.ending == sandbox::Ending::kExited && result.code == 0 &&
                    lstat(made.c_str(), &found) == 0 && S_ISREG(found.st_mode);
  if (!good) {
    remove_all(out);
    const auto messages = parse_messages(printable(result.output), "").errors;
    throw errors::no_precompiled_header(
        place.lab.slug, !messages.empty() ? messages.front().file + ": " + messages.front().message
                        : result.why.empty() ? printable(result.output.substr(0, 500))
                                             : result.why);
  }
}

// Ours again, where another uid built it; and there for everybody at once.
void publish(const Place& place, const std::string& made) {
  [[maybe_unused]] const int owned = lchown(made.c_str(), geteuid(), getegid());
  chmod(made.c_str(), 0644);
  const std::string target = place.header + "/" + fs::path(made).filename().string();
  if (rename(made.c_str(), target.c_str()) != 0)
    throw errors::no_cache(target, std::strerror(errno));
}

void build(const Place& place) {
  write_parts(place);
  if (place.toolchain.clang) ask_link_line(place);
  const std::string out = place.header + "/out";
  const auto begin = [&] {
    remove_all(out);
    make_folder(out);
  };
  begin();
  bool share = shares_functions(place.toolchain, place.lab);
  compile_header(place, out, share);
  if (share && !build_functions(place, out, build_limits())) {
    share = false;
    begin();
    compile_header(place, out, false);
  }
  // The header comes last: once it is there, everything is.
  remove_all(place.header + "/" + kFunctions);
  if (share) publish(place, out + "/" + kFunctions);
  publish(place, out + "/" + file_name(place.toolchain));
  remove_all(out);
}

bool works(const Place& place) {
  sandbox::Command command = box(place);
  command.limits = build_limits();
  command.argv = compiler(place, command);
  const std::vector<std::string> use = use_header(place, command);
  command.argv.insert(command.argv.end(), use.begin(), use.end());
  command.argv.insert(command.argv.end(), {"-fsyntax-only", "-x", "c++", "/dev/null"});
  const sandbox::Result result = run(command, place.isolation);
  return result.ending == sandbox::Ending::kExited && result.code == 0;
}

void remove_unused(const std::string& cache, const std::string& keep) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache, ignored)) {
    const auto used = fs::last_write_time(entry.path(), ignored);
    if (!ignored && entry.is_directory() && entry.path() != keep &&
        fs::file_time_type::clock::now() - used > kUnusedFor) {
      remove_all(entry.path().string());
    }
  }
}

}  // namespace

std::string header_folder(const Toolchain& toolchain, sandbox::Isolation isolation,
                          const manifest::Manifest& lab) {
  const Place place{toolchain, isolation, lab, "HEADER"};
  std::string all = to_string(isolation) + "\n" + toolchain.compiler_version + "\n" +
                    toolchain.torch + "\n" + toolchain.torch_version + "\n";
  // Another build of the same version; clang does not look whether system headers changed.
  struct stat library{};
  stat((toolchain.torch + "/lib/libtorch_cpu.so").c_str(), &library);
  all += fmt::format("{} {}\n", library.st_size, library.st_mtim.tv_sec);
  // The mounts name no file below them, so the flags come from the folders alone.
  sandbox::Command command;
  command.mounts = header_folders(toolchain, lab);
  for (const std::string& flag : compiler(place, command)) all += flag + "\n";
  if (shares_functions(toolchain, lab)) all += std::string(kShareFunctions) + "\n";
  all += text_of_parts(place);
  return fmt::format("{}/{:016x}", toolchain.cache, hash(all, 0));
}

bool is_built(const Toolchain& toolchain, const std::string& folder) {
  return access((folder + "/" + file_name(toolchain)).c_str(), R_OK) == 0;
}

void build_header(const Place& place) {
  make_folder(place.toolchain.cache);
  const FileLock lock(place.header + ".lock");
  if (is_built(place.toolchain, place.header)) return;
  build(place);
  remove_unused(place.toolchain.cache, place.header);
}

bool mend_header(const Place& place) {
  const FileLock lock(place.header + ".lock");
  if (works(place)) return false;
  build(place);
  return true;
}

std::vector<std::string> use_header(const Place& place, const sandbox::Command& command) {
  const std::string folder = path_inside(command, place.isolation, kHeader);
  std::vector<std::string> flags;
  if (place.toolchain.clang) {
    flags = {"-include-pch", folder + "/" + file_name(place.toolchain)};
  } else {
    flags = {"-include", folder + "/all.hpp"};  // g++ takes the .gch beside it
  }
  if (!place.lab.forbidden_names.empty()) {
    flags.insert(flags.end(), {"-include", folder + "/poison.hpp"});
  }
  return flags;
}

std::vector<std::string> link_line(const std::string& folder) {
  std::vector<std::string> words;
  std::istringstream lines(read_file(folder + "/link"));
  for (std::string line; std::getline(lines, line);) words.push_back(line);
  return words;
}

}  // namespace gradlab::compile
