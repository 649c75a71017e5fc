// What a person has done, in .gradlab/drills.json: how each template went and when it is due.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "drills/schedule.hpp"

namespace gradlab::drills {

struct Progress {
  static constexpr int kVersion = 1;
  std::map<std::string, Item> items;             // by template
  std::map<std::string, std::int64_t> mistakes;  // how often each was made
};

std::string to_json(const Progress& progress);

enum class Fault { kNone, kDamaged, kNewer };
struct ReadProgress {
  Progress progress;  // empty where there is a fault
  Fault fault = Fault::kNone;
  bool mended = false;  // the clock went back: worth writing, or it is mended anew each day
};
// REQUIRES: today is a day; items from its future are mended (mend_clock).
ReadProgress read_progress(const std::string& json, Day today);

// The right to write: one drill at a time in one copy of gradlab. Ends with the object, or with the
// process.
class Lock {
 public:
  // Nothing where another process holds it. Throws std::filesystem::filesystem_error where the file
  // cannot be made.
  static std::optional<Lock> take(const std::filesystem::path& file);
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace gradlab::drills
