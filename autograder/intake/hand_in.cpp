#include "intake/hand_in.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "intake/errors.hpp"
#include "record/sha256.hpp"
#include "record/store.hpp"
#include "record/utf8.hpp"

namespace gradlab::intake {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> shown_in(const Folder& folder, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(readable(folder.shown(name)));
  return result;
}

}  // namespace

std::string readable(std::string_view name) {
  std::string result;
  for (std::size_t at = 0; at < name.size();) {
    const auto point = record::code_point_at(name, at);
    result += point.valid ? std::string(name.substr(at, point.length))
                          : fmt::format("%{:02X}", static_cast<unsigned char>(name[at]));
    at += point.length;
  }
  return result;
}

bool is_source(const std::string& name) {
  static const std::set<std::string> kEndings = {".cpp", ".cc", ".cxx", ".c++", ".C", ".cu"};
  return kEndings.contains(fs::path(name).extension().string());
}

fs::path Reader::copy(const HandIn& hand_in, const std::string& name,
                      const std::string& bytes) const {
  const fs::path folder = work_ / record::file_stem(hand_in.student);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw errors::work(folder.string(), error.message());
  const fs::path path = folder / name;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw errors::work(path.string(), std::strerror(errno));
  return path;
}

void Reader::take_into(HandIn& hand_in, int folder, const std::string& found,
                       const std::string& wanted, const fs::path& source, bool follow_links) const {
  const Taken taken =
      take(folder, found, readable(found), manifest_.limits.source_kib, follow_links);
  if (taken.read) {
    hand_in.files.push_back(
        {wanted, copy(hand_in, wanted, taken.bytes), source, record::sha256(taken.bytes)});
  }
  if (taken.refused && !hand_in.refused) hand_in.refused = taken.refused;
}

HandIn Reader::from_file(int folder, const std::string& name, const fs::path& source,
                         const std::string& student, bool follow_links) const {
  HandIn hand_in;
  hand_in.student = student;
  take_into(hand_in, folder, name, manifest_.hand_in.front(), source, follow_links);
  return hand_in;
}

void Reader::take_renamed(HandIn& hand_in, const Folder& folder, std::vector<std::string>& extras,
                          const std::string& wanted, const fs::path& source) const {
  std::vector<std::string> candidates;
  std::copy_if(extras.begin(), extras.end(), std::back_inserter(candidates), [&](const auto& name) {
    return manifest_.hand_in.size() == 1 && is_source(name) && S_ISREG(folder.mode(name));
  });
  if (candidates.size() == 1) {
    hand_in.notes.push_back(errors::took_as(readable(candidates[0]), wanted));
    take_into(hand_in, folder.fd(), candidates[0], wanted, source / candidates[0], false);
    std::erase(extras, candidates[0]);
  } else if (!hand_in.refused) {
    hand_in.refused = candidates.empty() ? errors::missing(wanted, shown_in(folder, extras))
                                         : errors::several(wanted, shown_in(folder, candidates));
  }
}

HandIn Reader::from_folder(const Folder& folder, const fs::path& source,
                           const std::string& student) const {
  HandIn hand_in;
  hand_in.student = student;
  std::vector<std::string> extras = folder.names();
  std::vector<std::string> missing;
  for (const std::string& wanted : manifest_.hand_in) {
    if (std::erase(extras, wanted) == 0) {
      missing.push_back(wanted);
    } else {
      take_into(hand_in, folder.fd(), wanted, wanted, source / wanted, false);
    }
  }
  for (const std::string& wanted : missing) take_renamed(hand_in, folder, extras, wanted, source);
  if (!extras.empty()) hand_in.notes.push_back(errors::left_alone(shown_in(folder, extras)));
  return hand_in;
}

}  // namespace gradlab::intake
