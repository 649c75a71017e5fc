#include "compile/diagnostics.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "compile/hints.hpp"

namespace gradlab::compile {
namespace {

constexpr std::size_t kLongest = 240;  // bytes of a line that is shown

enum class Kind { kError, kWarning, kNote };

struct Line {
  Kind kind = Kind::kNote;
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
};

std::string shortened(std::string_view text) {
  if (text.size() <= kLongest) return std::string(text);
  std::size_t cut = kLongest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return std::string(text.substr(0, cut)) + " ...";
}

// Takes ":12" from the end of `text`.
std::optional<int> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  text.remove_suffix(text.size() - colon);
  return number;
}

// "clipping.cpp:12:5" or "clipping.cpp:12"; a word alone ("mold") has no line.
void read_place(std::string_view place, Line& line) {
  const auto last = take_number(place);
  const auto first = last ? take_number(place) : std::nullopt;
  line.line = first ? *first : last.value_or(0);
  line.column = first ? *last : 0;
  line.file = std::string(place);
}

std::optional<Line> read_line(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.front() == '\t') return std::nullopt;
  struct Word {
    std::string_view text;
    Kind kind;
    bool said = false;  // part of the message
  };
  static constexpr Word kWords[] = {{": fatal error: ", Kind::kError},
                                    {": error: ", Kind::kError},
                                    {": fatal: ", Kind::kError},                        // of mold
                                    {": multiple definition of ", Kind::kError, true},  // of ld
                                    {": warning: ", Kind::kWarning},
                                    {": note: ", Kind::kNote},
                                    // g++ tells so which line asked for a template
                                    {":   required from here", Kind::kNote}};
  std::size_t best = std::string_view::npos;
  const Word* found = nullptr;
  for (const Word& word : kWords) {
    const std::size_t at = text.find(word.text);
    if (at < best) {
      best = at;
      found = &word;
    }
  }
  if (found == nullptr) return std::nullopt;
  Line line;
  line.kind = found->kind;
  line.message = shortened(text.substr(best + (found->said ? 2 : found->text.size())));
  const std::string_view place = text.substr(0, best);
  read_place(place.substr(0, place.find(":(")), line);  // ld: "a.cpp:(.text+0x0)"
  return line;
}

// "In file included from clipping.cpp:3:" and, further lines of g++, "                 from a.h:7:"
std::optional<Line> read_include(std::string_view text) {
  constexpr std::string_view kFirst = "In file included from ", kNext = " from ";
  const std::size_t next = text.find(kNext);
  if (text.starts_with(kFirst)) {
    text.remove_prefix(kFirst.size());
  } else if (next != std::string_view::npos && next > 8 &&
             text.find_first_not_of(' ') == next + 1) {
    text.remove_prefix(next + kNext.size());
  } else {
    return std::nullopt;
  }
  while (!text.empty() && (text.back() == ':' || text.back() == ',')) text.remove_suffix(1);
  Line line;
  read_place(text, line);
  return line;
}

bool is_excerpt(std::string_view text) {
  const std::size_t bar = text.find('|');
  return !text.empty() && text.front() == ' ' && bar != std::string_view::npos && bar < 12;
}

class Parser {
 public:
  explicit Parser(const std::string& student_file) : student_file_(student_file) {}

  void take(std::string_view text) {
    if (const auto include = read_include(text)) {
      finish();
      if (include->file == student_file_) included_at_ = *include;
    } else if (const auto line = read_line(text)) {
      if (line->kind == Kind::kNote) {
        note(*line);
      } else {
        finish();
        begin(*line);
      }
    } else if (is_excerpt(text) && wants_excerpt_ && current_.excerpt.size() < 3) {
      current_.excerpt.push_back(shortened(text));
    }
  }

  void finish() {
    if (!open_) return;
    open_ = false;
    current_.hint = hint_for(current_.message, current_.excerpt);
    const std::size_t slash = current_.file.rfind('/');
    if (slash != std::string::npos) current_.file.erase(0, slash + 1);
    auto& list = kind_ == Kind::kError ? messages_.errors : messages_.warnings;
    if (list.size() < kKept) list.push_back(current_);
    current_ = {};
  }

  Messages messages() && { return std::move(messages_); }

 private:
  void begin(const Line& line) {
    open_ = true;
    wants_excerpt_ = true;
    kind_ = line.kind;
    current_ = {line.file, line.line, line.column, line.message, {}, {}};
    by_include_ = false;
    if (line.file != student_file_ && included_at_) {
      by_include_ = included_at_->message.empty();
      move_to(*included_at_);
    }
    included_at_.reset();
  }

  // A better place than the #include that an error in a header is told at first.
  static bool asks_for_template(const Line& line) {
    return line.message.find("requested here") != std::string::npos;
  }

  // In a header: the line of the hand-in is in a note behind it, "requested here" or "expanded
  // from". g++ says it before, and then this note stands alone.
  void note(const Line& line) {
    wants_excerpt_ = false;
    if (line.file != student_file_) return;
    if (!open_) {
      included_at_ = line;
    } else if (current_.file != student_file_ || (by_include_ && asks_for_template(line))) {
      move_to(line);
      by_include_ = false;
      current_.excerpt.clear();
      wants_excerpt_ = true;
    }
  }

  void move_to(const Line& line) {
    current_.file = line.file;
    current_.line = line.line;
    current_.column = line.column;
    wants_excerpt_ = false;
  }

  const std::string& student_file_;
  Messages messages_;
  Diagnostic current_;
  Kind kind_ = Kind::kError;
  bool open_ = false;
  bool wants_excerpt_ = false;
  bool by_include_ = false;          // current_ stands at the line of an #include
  std::optional<Line> included_at_;  // the line of the hand-in that leads to the next message
};

// Length of the UTF-8 sequence at the start of `text`; 0 when it is none.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80   ? 1
                             : byte(0) < 0xC2 ? 0
                             : byte(0) < 0xE0 ? 2
                             : byte(0) < 0xF0 ? 3
                             : byte(0) < 0xF5 ? 4
                                              : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond Unicode.
  if ((byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) > 0x9F) ||
      (byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

Messages parse_messages(const std::string& log, const std::string& student_file) {
  Parser parser(student_file);
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    parser.take(std::string_view(log).substr(at, end - at));
    at = end + 1;
  }
  parser.finish();
  return std::move(parser).messages();
}

std::string printable(const std::string& bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const std::string_view rest = std::string_view(bytes).substr(i);
    const std::size_t length = sequence(rest);
    const auto first = static_cast<unsigned char>(rest[0]);
    const bool control =
        (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F ||
        (length == 2 && first == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0);
    if (length == 0 || control) {
      text += '?';
    } else {
      text.append(rest.substr(0, length));
    }
    i += std::max<std::size_t>(length, 1);
  }
  return text;
}

}  // namespace gradlab::compile
