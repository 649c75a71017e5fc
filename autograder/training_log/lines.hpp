// A file of any size as lines, in bounded memory: UTF-8 with or without a mark, UTF-16, CRLF, the
// carriage returns of progress bars, colours, ranks before a line. A file that still grows can be
// read on.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gradlab::training_log {

// The file cannot be opened or read; says which and why.
class LogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Line {
  std::string_view text;     // without what ends it; valid until the next call
  std::uint64_t number = 0;  // from 1
  bool goes_on = false;      // longer than kMostLine: the next is its continuation
  bool continues = false;
  bool torn = false;  // the file ends in it
};

class Lines {
 public:
  static constexpr std::size_t kMostLine = 1 << 20;

  // "-" is the standard input. Throws LogError.
  explicit Lines(const std::string& path);
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // The next whole line; false where there is none yet. Throws LogError.
  bool next(Line& line);
  // What stands behind the last line end; false where there is nothing.
  bool last(Line& line);

  bool is_utf16() const { return code_ == Code::kLittle || code_ == Code::kBig; }
  bool has_mark() const { return has_mark_; }
  bool has_crlf() const { return has_crlf_; }
  std::uint64_t zero_bytes() const { return zero_bytes_; }
  std::uint64_t bytes() const { return bytes_; }

  // True once the file is shorter than what was read; the next call to next() begins anew.
  bool has_shrunk();

 private:
  enum class Code { kUnknown, kUtf8, kLittle, kBig };

  bool fill();
  void decode(std::string_view raw);
  void decode_utf16(std::string_view raw);
  void find_code(std::string_view raw);
  Line take(std::size_t length, std::size_t end);

  std::string path_;
  int descriptor_ = -1;
  Code code_ = Code::kUnknown;
  std::string held_;      // decoded, not yet given out
  std::size_t from_ = 0;  // of held_
  std::size_t seen_ = 0;  // of held_, searched for a line's end
  std::string half_;      // bytes of a character that is not whole yet
  bool has_mark_ = false, has_crlf_ = false, inside_ = false;
  std::uint64_t number_ = 1, bytes_ = 0, zero_bytes_ = 0;
};

// Without colours, cursor movements, and what a launcher puts before a line ("[1,0]<stdout>:",
// "[default3]:", "[rank0]:", "1: "). `kept` holds the result where it had to be copied.
std::string_view cleaned(std::string_view text, std::string& kept);

}  // namespace gradlab::training_log
