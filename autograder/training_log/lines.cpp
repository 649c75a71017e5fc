#include "training_log/lines.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "training_log/utf8.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::size_t kChunk = 1 << 16;

LogError not_read(const std::string& path, int error) {
  return LogError(fmt::format("{}: cannot be read ({}); name a log file, or - for standard input",
                              path, strerror(error)));
}

}  // namespace

Lines::Lines(const std::string& path) : path_(path) {
  descriptor_ = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw not_read(path, errno);
  struct stat about{};
  if (::fstat(descriptor_, &about) == 0 && S_ISDIR(about.st_mode)) {
    ::close(descriptor_);
    throw not_read(path, EISDIR);
  }
}

Lines::~Lines() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Lines::fill() {
  // What was given out is dropped before more is read.
  held_.erase(0, from_);
  seen_ -= from_;
  from_ = 0;
  char buffer[kChunk];
  ssize_t got = 0;
  do {
    got = ::read(descriptor_, buffer, sizeof buffer);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw not_read(path_, errno);
  if (got == 0) return false;
  bytes_ += static_cast<std::uint64_t>(got);
  decode(std::string_view(buffer, static_cast<std::size_t>(got)));
  return true;
}

void Lines::find_code(std::string_view raw) {
  const auto byte = [&](std::size_t i) {
    return i < raw.size() ? static_cast<unsigned char>(raw[i]) : 0x100;
  };
  // Without a mark: ASCII in UTF-16 has a zero in every other byte.
  const bool zeros_behind = raw.size() >= 4 && byte(1) == 0 && byte(3) == 0 && byte(0) != 0;
  const bool zeros_before = raw.size() >= 4 && byte(0) == 0 && byte(2) == 0 && byte(1) != 0;
  if ((byte(0) == 0xFF && byte(1) == 0xFE) || zeros_behind) {
    code_ = Code::kLittle;
  } else if ((byte(0) == 0xFE && byte(1) == 0xFF) || zeros_before) {
    code_ = Code::kBig;
  } else {
    code_ = Code::kUtf8;
    has_mark_ = byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF;
  }
}

void Lines::decode(std::string_view raw) {
  if (code_ == Code::kUnknown) {
    find_code(raw);
    if (has_mark_) raw.remove_prefix(3);
  }
  if (is_utf16()) return decode_utf16(raw);
  if (::memchr(raw.data(), 0, raw.size()) == nullptr) {
    held_ += raw;
    return;
  }
  for (const char c : raw) {
    zero_bytes_ += c == '\0' ? 1 : 0;
    held_ += c == '\0' ? '?' : c;
  }
}

void Lines::decode_utf16(std::string_view raw) {
  half_ += raw;
  std::size_t at = 0;
  for (; at + 1 < half_.size(); at += 2) {
    const auto first = static_cast<unsigned char>(half_[at]);
    const auto second = static_cast<unsigned char>(half_[at + 1]);
    const unsigned code =
        code_ == Code::kLittle ? first | second << 8u : static_cast<unsigned>(first) << 8 | second;
    if (code == 0xFEFF) {
      has_mark_ = true;
    } else if (code >= 0xD800 && code < 0xE000) {
      held_ += '?';  // outside the basic plane: no log's number or name is
    } else {
      append_utf8(held_, code);
    }
  }
  half_.erase(0, at);
}

Line Lines::take(std::size_t length, std::size_t end) {
  Line line;
  line.text = std::string_view(held_).substr(from_, length);
  line.number = number_;
  line.continues = inside_;
  from_ += end;
  seen_ = from_;
  return line;
}

bool Lines::next(Line& line) {
  while (true) {
    std::size_t end = held_.find_first_of("\n\r", seen_);
    if (end == std::string::npos) {
      seen_ = held_.size();
      if (held_.size() - from_ > kMostLine) {
        line = take(kMostLine, kMostLine);
        line.goes_on = inside_ = true;
        return true;
      }
      if (!fill()) return false;
      continue;
    }
    if (held_[end] == '\r' && end + 1 == held_.size()) {
      end -= from_;  // fill() moves what is held to the front
      const bool more = fill();
      seen_ = from_;
      if (more) continue;  // is it CRLF? The next bytes say
    }
    const bool crlf = held_[end] == '\r' && end + 1 < held_.size() && held_[end + 1] == '\n';
    const bool bar = held_[end] == '\r' && !crlf;  // a progress bar: the same line, drawn again
    has_crlf_ = has_crlf_ || crlf;
    line = take(end - from_, end - from_ + (crlf ? 2 : 1));
    inside_ = false;
    if (!bar) ++number_;
    return true;
  }
}

bool Lines::last(Line& line) {
  if (from_ >= held_.size()) return false;
  line = take(held_.size() - from_, held_.size() - from_);
  line.torn = true;
  inside_ = false;
  return true;
}

bool Lines::has_shrunk() {
  struct stat about{};
  if (::fstat(descriptor_, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  if (static_cast<std::uint64_t>(about.st_size) >= bytes_) return false;
  ::lseek(descriptor_, 0, SEEK_SET);
  held_.clear();
  half_.clear();
  from_ = seen_ = 0;
  code_ = Code::kUnknown;
  inside_ = false;
  number_ = 1;
  bytes_ = 0;
  return true;
}

}  // namespace gradlab::training_log
