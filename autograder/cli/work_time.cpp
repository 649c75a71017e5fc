#include "cli/work_time.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <fstream>
#include <sstream>

namespace gradlab::cli {
namespace {

constexpr std::int64_t kPause = 20 * 60;  // s: longer without a command is no work on the lab
constexpr double kAfterPause = 2;         // minutes that a command after a pause stands for

std::filesystem::path file_of(const Workspace& workspace) {
  return workspace.state_dir() / "work_time.log";
}

}  // namespace

void note_work(const Workspace& workspace, const std::string& slug) {
  const int file =
      open(file_of(workspace).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  const auto line = fmt::format("{} {}\n", std::time(nullptr), slug);
  [[maybe_unused]] const auto written = write(file, line.data(), line.size());
  close(file);
}

std::map<std::string, double> minutes_in(std::string_view log) {
  std::map<std::string, double> minutes;
  std::int64_t last = 0;
  while (!log.empty()) {
    const auto line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    std::int64_t time = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), time);
    const auto slug =
        line.substr(std::min(line.size(), static_cast<size_t>(end - line.data()) + 1));
    if (error != std::errc() || slug.empty() || *end != ' ') continue;
    const auto since = time - last;
    last = time;
    auto& lab = minutes[std::string(slug)];
    if (since >= 0) lab += since <= kPause ? static_cast<double>(since) / 60 : kAfterPause;
  }
  return minutes;
}

std::map<std::string, double> minutes_worked(const Workspace& workspace) {
  std::ifstream in(file_of(workspace), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return minutes_in(text.str());
}

}  // namespace gradlab::cli
