// One reader a format. A line reader looks at one line, puts what it understands into the sink and
// says whether the line was its own; formats mix freely in one file (DeepSpeed's overflow lines
// between a trainer's dicts). What needs more than a line is a class.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training_log/fields.hpp"
#include "training_log/step.hpp"

namespace gradlab::training_log {

enum class Format {
  kGradlab,
  kOrmasDiary,
  kOrmasMetrics,
  kJsonLines,
  kTrainerState,
  kPythonDict,
  kCsv,
  kDeepSpeed,
  kMegatron,
  kFairseq,
  kNanoGpt,
  kApex,
  kSwin,
  kMmEngine,
  kKeyValue,
};
inline constexpr int kFormats = 15;

const char* name_of(Format format);    // for people: "Megatron-LM"
bool logs_scale_after(Format format);  // the scale on a line is the one after update()

// What a line reader found: whose line it was.
struct Found {
  bool mine = false;
  Format format = Format::kKeyValue;
};
using LineReader = Found (*)(std::string_view line, Sink& sink);

Found read_json_line(std::string_view line, Sink& sink);  // gradlab, ormas, any JSON lines
Found read_python_dict(std::string_view line, Sink& sink);
Found read_overflow(std::string_view line, Sink& sink);  // DeepSpeed, apex, fairseq
Found read_deepspeed(std::string_view line, Sink& sink);
Found read_megatron(std::string_view line, Sink& sink);
Found read_fairseq(std::string_view line, Sink& sink);
Found read_nanogpt(std::string_view line, Sink& sink);
Found read_swin(std::string_view line, Sink& sink);
Found read_mmengine(std::string_view line, Sink& sink);
Found read_key_value(std::string_view line, Sink& sink);

// In the order they are asked: the distinct ones first.
std::span<const LineReader> line_readers();

// A step or a summary of Hugging Face's Trainer. False where it is neither.
bool take_trainer_record(const Fields& fields, Sink& sink, bool file);

// trainer_state.json, in pieces of any size.
class TrainerStateReader {
 public:
  void feed(std::string_view piece, Sink& sink);
  bool has_begun() const { return inside_; }
  bool is_inside_record() const { return !buffer_.empty() && depth_ > 0; }

 private:
  bool begin();
  void take(char c, Sink& sink);

  std::string buffer_;
  bool inside_ = false, done_ = false, quoted_ = false, escaped_ = false;
  int depth_ = 0;
};

// A table with a header, cells mostly empty (Lightning's metrics.csv).
class CsvReader {
 public:
  // True where `line` is a header that holds a name we know.
  static bool is_header(std::string_view line);
  explicit CsvReader(std::string_view header);
  bool read(std::string_view line, Sink& sink);

 private:
  char separator_;
  std::vector<std::string> names_;
};

}  // namespace gradlab::training_log
