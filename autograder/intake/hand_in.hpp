// One student's hand-in, from a folder or from one file, copied into the private work folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "intake/intake.hpp"
#include "intake/take.hpp"

namespace gradlab::intake {

// A name that any text can carry: a byte that is no UTF-8 is shown as %XX.
std::string readable(std::string_view name);
bool is_source(const std::string& name);  // by its ending

class Reader {
 public:
  // `manifest` outlives the reader.
  Reader(const Manifest& manifest, std::filesystem::path work)
      : manifest_(manifest), work_(std::move(work)) {}

  HandIn from_folder(const Folder& folder, const std::filesystem::path& source,
                     const std::string& student) const;
  HandIn from_file(int folder, const std::string& name, const std::filesystem::path& source,
                   const std::string& student, bool follow_links) const;

 private:
  void take_into(HandIn& hand_in, int folder, const std::string& found, const std::string& wanted,
                 const std::filesystem::path& source, bool follow_links) const;
  // A file of another name, when it can only be the missing one; else the hand-in is refused.
  void take_renamed(HandIn& hand_in, const Folder& folder, std::vector<std::string>& extras,
                    const std::string& wanted, const std::filesystem::path& source) const;
  std::filesystem::path copy(const HandIn& hand_in, const std::string& name,
                             const std::string& bytes) const;

  const Manifest& manifest_;
  std::filesystem::path work_;
};

}  // namespace gradlab::intake
