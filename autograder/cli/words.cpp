#include "cli/words.hpp"

#include <algorithm>
#include <numeric>

namespace gradlab::cli {
namespace {

// Edits to turn one word into the other; two letters swapped count one.
int distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), now(b.size() + 1);
  std::iota(above.begin(), above.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({above[j] + 1, now[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before = above;
    above = now;
  }
  return above[b.size()];
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  // A third of a long word, or two letters of a short one, may be wrong.
  int best_distance = std::max(2, static_cast<int>(word.size()) / 3) + 1;
  for (const auto& candidate : known) {
    int apart = distance(word, candidate);
    if (!word.empty() && candidate.starts_with(word)) apart = 1;
    if (apart < best_distance && apart < static_cast<int>(candidate.size())) {
      best_distance = apart;
      best = candidate;
    }
  }
  return best;
}

std::string joined(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + last + " " : ", ";
    text += words[i];
  }
  return text;
}

int width_of(std::string_view utf8) {
  return static_cast<int>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return !continues_character(c); }));
}

std::string padded(const std::string& text, int width) {
  const int is = width_of(text);
  if (is <= width) return text + std::string(static_cast<size_t>(width - is), ' ');
  std::string cut;
  int cells = 0;
  for (const char c : text) {
    if (!continues_character(c) && ++cells >= width) break;
    cut.push_back(c);
  }
  return cut + "…";
}

std::string wrapped(const std::string& text, int width, int indent) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string all;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) all += margin + line + "\n";
    line.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width - indent) flush();
    if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    if (end < text.size() && text[end] == '\n') flush();
    at = end + 1;
  }
  flush();
  return all;
}

}  // namespace gradlab::cli
