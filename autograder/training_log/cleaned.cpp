#include "training_log/lines.hpp"

namespace gradlab::training_log {
namespace {

// "[1,0]<stdout>:", "[default3]:", "[rank0]:", "(RayWorker pid=12)", "3: "
std::string_view without_rank(std::string_view text) {
  const auto skip = [&](std::size_t end) {
    text.remove_prefix(end);
    while (text.starts_with(' ') && text.size() > 1 && text[1] == ' ') text.remove_prefix(1);
    return text;
  };
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos || close > 24) return text;
    const std::string_view inner = text.substr(1, close - 1);
    const std::string_view behind = text.substr(close + 1);
    if (behind.starts_with("<std")) {
      const auto end = behind.find(':');
      return end == std::string_view::npos ? text : skip(close + 1 + end + 1);
    }
    const bool named = inner.starts_with("default") || inner.starts_with("rank");
    return named && behind.starts_with(':') ? skip(close + 2) : text;
  }
  if (text.starts_with("(") && text.find("pid=") < 60) {
    const auto close = text.find(')');
    return close == std::string_view::npos ? text : skip(close + 1);
  }
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const bool rank = digits > 0 && digits <= 5 && text.substr(digits).starts_with(": ");
  return rank ? skip(digits + 1) : text;
}

}  // namespace

std::string_view cleaned(std::string_view text, std::string& kept) {
  if (text.find('\x1b') != std::string_view::npos) {
    kept.clear();
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '\x1b') {
        kept += text[at];
        continue;
      }
      if (at + 1 < text.size() && text[at + 1] == '[') {
        ++at;
        while (at + 1 < text.size() && (text[at + 1] < '@' || text[at + 1] > '~')) ++at;
        ++at;
      }
    }
    text = kept;
  }
  return without_rank(text);
}

}  // namespace gradlab::training_log
