// The output folder of a batch: its one seed, and a record a student. It makes a batch survive a
// kill: what is graded stays, and the same command goes on from there.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "intake/intake.hpp"
#include "record/record.hpp"

namespace gradlab::pipeline {

// The folder cannot be used for this batch: what is wrong and what to do.
class BatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class BatchFolder {
 public:
  // Opens `out`, or makes it. `seed` empty: the one kept there, or a new one. Throws BatchError
  // when it holds another batch (another lab, folder or seed) or is no batch's folder at all.
  BatchFolder(std::filesystem::path out, const std::string& lab,
              const std::filesystem::path& hand_ins, const std::string& seed);

  const std::string& seed() const { return seed_; }
  bool is_new() const { return is_new_; }
  const std::filesystem::path& path() const { return out_; }
  std::filesystem::path record_path(const std::string& student) const;

  // The student's record of an earlier run, when it is whole; damaged ones count as none.
  std::optional<Record> earlier(const std::string& student) const;

  // Writes the record, unless it is a grader's fault and an earlier one has a score: that stays.
  // Returns what is on disk now. Throws RecordError when it cannot be written.
  Record keep(const Record& record) const;

 private:
  void create(const std::string& lab, const std::filesystem::path& hand_ins);

  std::filesystem::path out_;
  std::string seed_;
  bool is_new_ = false;
};

// Is that record still what grading the hand-in again would give: the same files, seed, checks and
// toolchain, and no fault of the grader?
bool still_holds(const Record& record, const intake::HandIn& hand_in, const std::string& seed,
                 const record::Grader& grader);

// 16 random hex digits.
std::string fresh_seed();

}  // namespace gradlab::pipeline
