#include "compile/compile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compile/box.hpp"
#include "compile/errors.hpp"
#include "compile/files.hpp"
#include "compile/functions.hpp"
#include "compile/outcome.hpp"
#include "compile/precompiled.hpp"

namespace gradlab::compile {
namespace {

constexpr const char* kLibrary = "student.so";
constexpr const char* kObject = "student.o";
// A log of this size is kept reading: a file that includes itself makes 90 KiB of it, and is an
// ordinary error.
constexpr std::size_t kLongestLog = 1024 * 1024;

std::string name_in_box(const manifest::Manifest& lab) {
  return lab.hand_in.empty() ? lab.slug + ".cpp" : lab.hand_in.front();
}

sandbox::Limits limits(const manifest::Manifest& lab) {
  sandbox::Limits limits;
  limits.cpu_seconds = lab.limits.compile_cpu_seconds;
  limits.wall_seconds = 5 * limits.cpu_seconds;
  limits.address_space = static_cast<std::uint64_t>(lab.limits.compile_memory_mib) * sandbox::kMiB;
  limits.open_files = kOpenFiles;
  limits.output =
      std::max(kLongestLog, static_cast<std::size_t>(lab.limits.compile_log_kib) * 1024);
  return limits;
}

// The hand-in under its lab's file name, readable for the sandbox whatever its mode was.
std::string copy_source(const manifest::Manifest& lab, const std::string& from,
                        const std::string& out_dir) {
  const int file = open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat found{};
  if (file < 0 || fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
    const int error = file < 0 ? errno : EINVAL;
    if (file >= 0) close(file);
    throw errors::no_file(from, std::strerror(error));
  }
  std::string text(static_cast<std::size_t>(found.st_size), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  close(file);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  make_folder(out_dir + "/source");
  write_file(out_dir + "/source/" + name_in_box(lab), text);
  return text;
}

using Words = std::vector<std::string>;

std::string shell_line(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += quoted(word) + ' ';
  return line;
}

Words compile_words(const Place& place, const sandbox::Command& command) {
  Words words = compiler(place, command);
  const Words use = use_header(place, command);
  words.insert(words.end(), use.begin(), use.end());
  words.insert(words.end(),
               {"-c", name_in_box(place.lab), "-o",
                path_inside(command, place.isolation, std::string(kOut) + "/" + kObject)});
  return words;
}

Words link_words(const Place& place, const sandbox::Command& command) {
  const auto inside = [&](const std::string& path) {
    return path_inside(command, place.isolation, path);
  };
  const Words inputs{inside(std::string(kOut) + "/" + kObject), inside(kTable),
                     "--version-script=" + inside(kExports)};
  const std::string output = inside(std::string(kOut) + "/" + kLibrary);
  if (!place.toolchain.clang) {
    return {place.toolchain.compiler, "-shared", inputs[0], inputs[1],
            "-Wl," + inputs[2],       "-o",      output};
  }
  Words words;
  for (const std::string& word : link_line(place.header)) {
    if (word == kInputs) {
      words.insert(words.end(), inputs.begin(), inputs.end());
    } else {
      words.push_back(word == kOutput ? output : word);
    }
  }
  return words;
}

sandbox::Command hand_in_command(const Place& place, const std::string& table,
                                 const std::string& out_dir) {
  sandbox::Command command = box(place);
  command.mounts.push_back({table, kTable});
  command.mounts.push_back({place.toolchain.root + "/autograder/compile/exports.map", kExports});
  command.mounts.push_back({out_dir + "/source", kHand});
  command.mounts.push_back({out_dir, kOut, true});
  command.working_directory = kHand;
  command.limits = limits(place.lab);
  // One box for both steps. All words are ours and quoted; the hand-in is in none of them.
  command.argv = {"/bin/sh", "-c",
                  shell_line(compile_words(place, command)) + "&& exec " +
                      shell_line(link_words(place, command))};
  return command;
}

bool is_library(const std::string& path) {
  struct stat found{};
  return lstat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
}

void add_notes(Compiled& compiled, const std::string& source, bool clang) {
  const std::string header = heavy_header_in(source);
  compiled.heavy_header = !header.empty();
  if (compiled.outcome != Compiled::kOk) return;
  if (compiled.heavy_header) {
    compiled.note = errors::heavy_header(header, compiled.seconds);
  } else if (!clang) {
    compiled.note = errors::slow_compiler();
  }
}

// A compiler that ended without an error in a line of the hand-in: that can be a file made for it,
// or a compiler, a linker or a machine that fails on any file.
bool may_be_the_machines(const Compiled& compiled) {
  if (compiled.outcome == Compiled::kCompileError) {
    return std::all_of(compiled.diagnostics.begin(), compiled.diagnostics.end(),
                       [](const Diagnostic& error) { return error.line == 0; });
  }
  return compiled.outcome == Compiled::kTimeLimit || compiled.outcome == Compiled::kMemoryLimit;
}

}  // namespace

Compiler::Compiler(Toolchain toolchain, sandbox::Isolation isolation)
    : toolchain_(std::move(toolchain)), isolation_(isolation) {}

bool Compiler::prepared(const manifest::Manifest& lab) const {
  return is_built(toolchain_, header_folder(toolchain_, isolation_, lab));
}

void Compiler::prepare(const manifest::Manifest& lab) {
  const Place place{toolchain_, isolation_, lab, header_folder(toolchain_, isolation_, lab)};
  if (!is_built(toolchain_, place.header)) build_header(place);
  utimensat(AT_FDCWD, place.header.c_str(), nullptr, 0);  // in use: not to be cleared away
}

std::string Compiler::functions(const manifest::Manifest& lab) const {
  const std::string file = header_folder(toolchain_, isolation_, lab) + "/" + kFunctions;
  return access(file.c_str(), R_OK) == 0 ? file : "";
}

Compiled Compiler::compile(const manifest::Manifest& lab, const std::string& source_file,
                           const std::string& out_dir) const {
  Compiled compiled = compile_once(lab, source_file, out_dir);
  if (!may_be_the_machines(compiled)) return compiled;
  const auto skeleton = lab.directory / (lab.slug + ".cpp");
  if (access(skeleton.c_str(), R_OK) != 0) return compiled;
  const Compiled control = compile_once(lab, skeleton.string(), out_dir);
  remove_all(out_dir + "/" + kLibrary);
  if (control.outcome == Compiled::kOk) return compiled;
  compiled.outcome = Compiled::kGraderError;
  compiled.diagnostics.clear();
  compiled.note = errors::fails_on_skeleton(control.log.substr(0, control.log.find('\n')));
  return compiled;
}

Compiled Compiler::compile_once(const manifest::Manifest& lab, const std::string& source_file,
                                const std::string& out_dir) const {
  const Place place{toolchain_, isolation_, lab, header_folder(toolchain_, isolation_, lab)};
  if (!is_built(toolchain_, place.header)) throw errors::not_prepared(lab.slug);
  const std::string table = toolchain_.tables + "/" + lab.slug + ".o";
  if (access(table.c_str(), R_OK) != 0) throw errors::no_table(table, lab.slug);

  const std::string source = copy_source(lab, source_file, out_dir);
  const sandbox::Command command = hand_in_command(place, table, out_dir);
  sandbox::Result result = run(command, isolation_);
  // A hand-in can print such a message too; then nothing is mended, and it stays its error.
  if (blames_header(result.output) && mend_header(place)) result = run(command, isolation_);
  Compiled compiled;
  compiled.seconds = result.wall_seconds;
  const std::string library = out_dir + "/" + kLibrary;
  judge_outcome(compiled, result, lab, name_in_box(lab), is_library(library));
  if (compiled.outcome == Compiled::kOk) compiled.library = library;
  add_notes(compiled, source, toolchain_.clang);
  remove_all(out_dir + "/source");
  remove_all(out_dir + "/" + kObject);
  return compiled;
}

}  // namespace gradlab::compile
