// Hugging Face's Trainer: a dict a line on its output, and trainer_state.json with the same records
// in "log_history". Neither holds the loss scale.
#include "training_log/number.hpp"
#include "training_log/readers/readers.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::size_t kMostRecord = 1 << 20;

}  // namespace

bool take_trainer_record(const Fields& fields, Sink& sink, bool file) {
  const bool summary = fields.find("train_runtime") != nullptr ||
                       fields.find("eval_loss") != nullptr ||
                       fields.find("eval_runtime") != nullptr;
  if (summary) return true;
  if (fields.find("loss") == nullptr || fields.find("epoch") == nullptr) return false;
  if (!file && fields.find("learning_rate") == nullptr) return false;
  Step step;
  if (fill_step(fields, step) == 0) return false;
  sink.step(std::move(step));
  return true;
}

Found read_python_dict(std::string_view line, Sink& sink) {
  const auto at = line.find("{'");  // behind a progress bar, often
  if (at == std::string_view::npos) return {};
  Fields fields;
  if (!parse_object(line.substr(at), fields)) return {};
  return {take_trainer_record(fields, sink, true), Format::kPythonDict};
}

bool TrainerStateReader::begin() {
  static constexpr std::string_view kKey = "\"log_history\"";
  const auto at = buffer_.find(kKey);
  const auto open = at == std::string::npos ? at : buffer_.find('[', at + kKey.size());
  if (open == std::string::npos) {
    // What may still be the beginning of the key stays.
    if (at == std::string::npos && buffer_.size() > 2 * kKey.size()) {
      buffer_.erase(0, buffer_.size() - kKey.size());
    }
    return false;
  }
  inside_ = true;
  buffer_.erase(0, open + 1);
  return true;
}

void TrainerStateReader::take(char c, Sink& sink) {
  if (depth_ == 0 && c == ']') done_ = true;
  if (depth_ == 0 && c != '{') return;
  if (buffer_.size() < kMostRecord) buffer_ += c;
  if (quoted_) {
    if (!escaped_ && c == '"') quoted_ = false;
    escaped_ = !escaped_ && c == '\\';
    return;
  }
  quoted_ = c == '"';
  depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
  if (depth_ > 0) return;
  Fields fields;
  if (parse_object(buffer_, fields)) take_trainer_record(fields, sink, true);
  buffer_.clear();
}

void TrainerStateReader::feed(std::string_view piece, Sink& sink) {
  if (done_) return;
  if (!inside_) {
    buffer_ += piece;
    if (!begin()) return;
    const std::string rest = std::move(buffer_);
    buffer_.clear();
    for (const char c : rest) {
      if (!done_) take(c, sink);
    }
    return;
  }
  for (const char c : piece) {
    if (!done_) take(c, sink);
  }
}

}  // namespace gradlab::training_log
