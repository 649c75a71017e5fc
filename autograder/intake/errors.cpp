#include "intake/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gradlab::intake::errors {
namespace {

constexpr std::size_t kMostNames = 8;

std::string listed(const std::vector<std::string>& names) {
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + std::min(names.size(), kMostNames));
  const std::size_t more = names.size() - first.size();
  return fmt::format("{}{}", fmt::join(first, ", "), more ? fmt::format(" and {} more", more) : "");
}

}  // namespace

IntakeError no_folder(std::string_view path) {
  return {IntakeErrorKind::kNoFolder,
          fmt::format("{}: no such folder; name one with a folder or a file a student", path)};
}

IntakeError not_a_folder(std::string_view path, std::string_view what) {
  return {
      IntakeErrorKind::kNotAFolder,
      fmt::format("{}: is {}, not a folder; name a folder with a folder or a file a student, or "
                  "check one file with ./gradlab check LAB --file",
                  path, what)};
}

IntakeError unreadable_folder(std::string_view path, std::string_view why) {
  return {IntakeErrorKind::kUnreadable,
          fmt::format("{}: cannot be read ({}); make it readable, then run the same command again",
                      path, why)};
}

IntakeError empty_folder(std::string_view path) {
  return {IntakeErrorKind::kEmpty,
          fmt::format("{}: is empty; name a folder with a folder or a file a student", path)};
}

IntakeError no_hand_in(std::string_view path, std::string_view hand_in) {
  return {IntakeErrorKind::kEmpty,
          fmt::format("{}: holds no hand-in; each student is a folder with {} or one .cpp file",
                      path, hand_in)};
}

IntakeError no_file(std::string_view path, std::string_view why) {
  return {IntakeErrorKind::kNoFile,
          fmt::format("{}: cannot be read ({}); name your own file, ./gradlab start LAB makes one",
                      path, why)};
}

IntakeError work(std::string_view path, std::string_view why) {
  return {IntakeErrorKind::kWork,
          fmt::format("{}: cannot be written ({}); make room there or set TMPDIR to another folder",
                      path, why)};
}

Refusal missing(std::string_view file, const std::vector<std::string>& found) {
  const auto rest = found.empty() ? std::string("nothing was handed in")
                                  : fmt::format("found only {}", listed(found));
  return {Verdict::kNotStarted, fmt::format("{} is missing; {}", file, rest)};
}

Refusal several(std::string_view file, const std::vector<std::string>& candidates) {
  return {Verdict::kNotStarted,
          fmt::format("{} is missing, and it could be any of {}; rename the one that counts", file,
                      listed(candidates))};
}

Refusal empty(std::string_view file) {
  return {Verdict::kNotStarted, fmt::format("{} is empty", file)};
}

Refusal not_regular(std::string_view file, std::string_view what) {
  return {Verdict::kForbidden, fmt::format("{} is {}; hand in the file itself", file, what)};
}

Refusal too_big(std::string_view file, std::int64_t most_kib) {
  return {Verdict::kForbidden,
          fmt::format("{} is bigger than {} KiB, the most that is taken; hand in the source alone",
                      file, most_kib)};
}

Refusal binary(std::string_view file, std::size_t at) {
  return {Verdict::kCompileError,
          fmt::format("{} is no text: byte {} is 0; hand in the source, not what was built from it",
                      file, at + 1)};
}

Refusal utf16(std::string_view file) {
  return {Verdict::kCompileError, fmt::format("{} is UTF-16 text; save it as UTF-8", file)};
}

Refusal not_utf8(std::string_view file, std::size_t at, std::size_t line) {
  return {Verdict::kCompileError,
          fmt::format("{} is not UTF-8 text at byte {} (line {}); save it as UTF-8", file, at + 1,
                      line)};
}

Refusal unreadable(std::string_view file, std::string_view why) {
  return {Verdict::kGraderError,
          fmt::format("{} cannot be read ({}); make it readable and grade this hand-in again", file,
                      why)};
}

std::string took_as(std::string_view found, std::string_view wanted) {
  return fmt::format("took {} as {}", found, wanted);
}

std::string left_alone(const std::vector<std::string>& names) {
  return fmt::format("left alone, not part of the hand-in: {}", listed(names));
}

std::string nobodys(std::string_view name, std::string_view remedy) {
  return fmt::format("{} is no hand-in and was left alone{}{}", name, remedy.empty() ? "" : "; ",
                     remedy);
}

std::string twice(std::string_view name) {
  return fmt::format("handed in twice under one name; this is {}, the other is graded too", name);
}

}  // namespace gradlab::intake::errors
