// Reads a log in one pass and bounded memory.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "training_log/lines.hpp"
#include "training_log/report.hpp"

namespace gradlab::training_log {

struct ReadOptions {
  std::optional<double> max_norm;  // the clip threshold, where the log does not hold it
  bool analyse = true;             // false: only steps and events for the two below
  std::function<void(const Step&)> on_step;
  std::function<void(const Event&)> on_event;
};

// The file, or an ormas run folder (diary.jsonl and metrics.jsonl). Throws LogError where it cannot
// be read; whatever stands in it is no error but a note in the report.
Report read_log(const std::string& path, const ReadOptions& options = {});

// The same, bit by bit: for `follow`.
class Reading : private Listener, private Timeline::Watcher {
 public:
  explicit Reading(ReadOptions options);
  ~Reading() override;
  void line(const Line& line);
  void begin_anew(const std::string& why);  // the file was replaced or cut
  Report finish(const std::string& path);
  const Report& so_far() const { return report_; }

 private:
  void step(const Step& step, Break before) override;
  void event(const Event& event) override;
  void see(const Moment& moment) override;

  bool by_reader(std::string_view text);
  bool by_whole_file(const Line& line);
  bool keeps_header(std::string_view text);
  void understood(Format format);
  void not_understood(const Line& line);
  Step with_scale_used(const Step& read);
  void begin_run();
  void end_run();
  void note_oddities();
  void note_formats();

  ReadOptions options_;
  Report report_;
  std::unique_ptr<Assembler> assembler_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<RunFacts> facts_;
  std::vector<std::unique_ptr<Detector>> detectors_;
  std::unique_ptr<Run> run_;
  Config next_config_;
  std::optional<CsvReader> csv_;
  std::optional<TrainerStateReader> state_;
  std::array<std::uint64_t, kFormats> by_format_{};
  std::size_t favourite_ = 0;  // the reader that understood the last line
  std::optional<double> last_after_;
  std::string kept_;
  std::uint64_t bad_means_ = 0;
  bool facts_after_ = false;  // some line's scale was the one after update()
  std::uint64_t long_lines_ = 0, torn_ = 0, line_ = 0;
};

}  // namespace gradlab::training_log
