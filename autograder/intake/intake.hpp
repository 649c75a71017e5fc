// A folder as an instructor has it, one folder or one file a student, as a list of hand-ins. Files
// are copied into a private folder before anything looks at them; only regular files, of capped
// size, opened without following links. Archives are not unpacked here.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "record/verdict.hpp"

namespace gradlab::intake {

struct File {
  std::string name;            // as in lab.toml
  std::filesystem::path path;  // the private copy
  std::filesystem::path source;
  std::string sha256;
};

// Why a hand-in goes no further: not_started (missing, empty), compile_error (no text), forbidden
// (no regular file, too big), grader_error (unreadable).
struct Refusal {
  Verdict verdict;
  std::string message;
};

struct HandIn {
  std::string student;  // as given, hostile; valid UTF-8, unique in the batch
  std::vector<File> files;
  std::vector<std::string> notes;
  std::optional<Refusal> refused;
};

struct Batch {
  std::vector<HandIn> hand_ins;    // by student
  std::vector<std::string> notes;  // what lies in the folder and is nobody's
  std::string shape;               // "one folder a student", "one file a student", "one hand-in"
};

enum class IntakeErrorKind { kNoFolder, kNotAFolder, kUnreadable, kEmpty, kNoFile, kWork };

class IntakeError : public std::runtime_error {
 public:
  IntakeError(IntakeErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  IntakeErrorKind kind() const { return kind_; }

 private:
  IntakeErrorKind kind_;
};

// Copies what counts to work/<student, encoded>/. REQUIRES: work exists, is private and empty.
Batch read_hand_ins(const std::filesystem::path& folder, const Manifest& manifest,
                    const std::filesystem::path& work);

// One file given by name, as `check --file` does. A link is followed: it is the user's own. Throws
// IntakeError (kNoFile) when there is none.
HandIn read_file(const std::filesystem::path& file, const Manifest& manifest,
                 const std::string& student, const std::filesystem::path& work);

}  // namespace gradlab::intake
