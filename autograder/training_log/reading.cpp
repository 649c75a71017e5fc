#include "training_log/reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::size_t kMostGarbage = 3;

// Stamps what a line holds with its number, on the way to the assembler.
class Stamp : public Sink {
 public:
  Stamp(Assembler& to, std::uint64_t line) : to_(to), line_(line) {}
  void step(Step step) override {
    step.line = line_;
    to_.step(std::move(step));
  }
  void event(Event event) override {
    event.line = line_;
    to_.event(std::move(event));
  }

 private:
  Assembler& to_;
  std::uint64_t line_;
};

}  // namespace

Reading::Reading(ReadOptions options) : options_(std::move(options)) {
  assembler_ = std::make_unique<Assembler>(static_cast<Listener&>(*this));
}

Reading::~Reading() = default;

void Reading::line(const Line& line) {
  line_ = line.number;
  if (!line.continues) ++report_.lines;
  if (by_whole_file(line)) return;
  if (line.goes_on || line.continues) {
    // Longer than any record: its pieces mean nothing.
    if (!line.continues) ++long_lines_;
    return;
  }
  const std::string_view text = cleaned(line.text, kept_);
  if (trimmed(text).empty()) {
    --report_.lines;
    return;
  }
  if (csv_) {
    Stamp sink(*assembler_, line_);
    if (csv_->read(text, sink)) return understood(Format::kCsv);
  }
  if (by_reader(text) || keeps_header(text)) return;
  not_understood(line);
}

bool Reading::by_reader(std::string_view text) {
  Stamp sink(*assembler_, line_);
  const auto readers = line_readers();
  // Whose line the last one was comes first, but overflow messages stand between all others.
  for (const std::size_t index : {std::size_t{0}, favourite_}) {
    if (const Found found = readers[index](text, sink); found.mine) {
      understood(found.format);
      return true;
    }
    if (favourite_ == 0) break;
  }
  for (std::size_t index = 1; index < readers.size(); ++index) {
    if (index == favourite_) continue;
    if (const Found found = readers[index](text, sink); found.mine) {
      favourite_ = index;
      understood(found.format);
      return true;
    }
  }
  return false;
}

bool Reading::keeps_header(std::string_view text) {
  if (!CsvReader::is_header(text)) return false;
  csv_.emplace(text);
  understood(Format::kCsv);
  return true;
}

// trainer_state.json: one object over many lines, or all of it on one.
bool Reading::by_whole_file(const Line& line) {
  Stamp sink(*assembler_, line_);
  const std::string_view text = trimmed(line.text);
  if (!state_) {
    const bool first = by_format_ == decltype(by_format_){};
    const bool begins = text == "{" || (text.starts_with('{') && line.goes_on) ||
                        (text.starts_with('{') && text.find("\"log_history\"") != text.npos);
    if (!first || !begins) return false;
    state_.emplace();
  }
  state_->feed(line.text, sink);
  state_->feed("\n", sink);
  if (state_->has_begun()) ++by_format_[static_cast<std::size_t>(Format::kTrainerState)];
  return true;
}

void Reading::understood(Format format) {
  ++by_format_[static_cast<std::size_t>(format)];
  if (facts_ && logs_scale_after(format)) facts_->scale_is_after = true;
}

void Reading::not_understood(const Line& line) {
  if (line.torn && trimmed(line.text).starts_with('{')) {
    ++torn_;
    return;
  }
  ++report_.not_understood;
  if (report_.garbage.size() < kMostGarbage) {
    report_.garbage.push_back(fmt::format("line {}: {}", line.number, line.text.substr(0, 120)));
  }
}

void Reading::begin_anew(const std::string& why) {
  assembler_->finish();
  end_run();
  assembler_ = std::make_unique<Assembler>(static_cast<Listener&>(*this));
  csv_.reset();
  state_.reset();
  report_.notes.push_back(why);
}

void Reading::note_formats() {
  std::vector<std::pair<std::uint64_t, Format>> order;
  for (std::size_t i = 0; i < by_format_.size(); ++i) {
    if (by_format_[i] > 0) order.emplace_back(by_format_[i], static_cast<Format>(i));
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [count, format] : order) report_.formats.push_back(format);
}

Report Reading::finish(const std::string& path) {
  assembler_->finish();
  end_run();
  report_.path = path;
  note_formats();
  note_oddities();
  return std::move(report_);
}

}  // namespace gradlab::training_log
