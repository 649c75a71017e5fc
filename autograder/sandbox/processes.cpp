#include "sandbox/processes.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>

namespace gradlab::sandbox {

std::vector<pid_t> numbers_in(const std::filesystem::path& folder) {
  std::vector<pid_t> numbers;
  std::error_code gone;
  for (std::filesystem::directory_iterator at(folder, gone), end; !gone && at != end;
       at.increment(gone)) {
    const std::string name = at->path().filename().string();
    const char* const past = name.data() + name.size();
    pid_t number = 0;
    const auto read = std::from_chars(name.data(), past, number);
    if (read.ec == std::errc() && read.ptr == past) numbers.push_back(number);
  }
  return numbers;
}

std::string stat_after_name(const std::filesystem::path& stat) {
  std::ifstream file(stat);
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  const bool whole = name_end != std::string::npos && text.size() >= name_end + 4;
  return whole ? text.substr(name_end + 2) : "";
}

pid_t parent_of(pid_t pid) {
  const std::string text = stat_after_name("/proc/" + std::to_string(pid) + "/stat");
  return text.empty() ? 0 : static_cast<pid_t>(std::atoi(text.c_str() + 2));
}

}  // namespace gradlab::sandbox
