#include "cli/app.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "manifest/manifest.hpp"

namespace gradlab::cli {
namespace {

bool needs_reader = true;

void write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE && needs_reader) _exit(kDone);  // `| head` has what it wanted
    if (n <= 0) return;                                         // nowhere left to say it
    done += static_cast<size_t>(n);
  }
}

int width_of_environment() {
  if (const char* columns = getenv("COLUMNS"); columns != nullptr && atoi(columns) > 0) {
    return atoi(columns);
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

bool is_set(const char* variable) {
  const char* value = getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

Options options_of_environment() {
  Options options;
  options.terminal = isatty(STDOUT_FILENO) == 1;
  const char* term = getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  options.colour = options.terminal && !dumb && !is_set("NO_COLOR");
  options.width = std::clamp(width_of_environment(), 40, 120);
  return options;
}

CLI::App& add_verb(CLI::App& app, const VerbText& text) {
  CLI::App& verb = *app.add_subcommand(text.name, text.description);
  verb.group(text.group);
  verb.footer(fmt::format("Example:\n  {}", text.example));
  return verb;
}

void print(const std::string& text) { write_all(STDOUT_FILENO, text); }

void note(const std::string& line) { write_all(STDERR_FILENO, line + "\n"); }

void go_on_without_reader() { needs_reader = false; }

int tell(const std::exception& error) {
  note(fmt::format("gradlab: {}", error.what()));
  return dynamic_cast<const UsageError*>(&error) != nullptr ? kUsage : kGraderFault;
}

}  // namespace gradlab::cli
