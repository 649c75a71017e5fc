#include "intake/intake.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "intake/errors.hpp"
#include "intake/hand_in.hpp"
#include "intake/take.hpp"

namespace gradlab::intake {
namespace {

namespace fs = std::filesystem;

HandIn refused(const std::string& student, Refusal refusal) {
  HandIn hand_in;
  hand_in.student = student;
  hand_in.refused = std::move(refusal);
  return hand_in;
}

// The names given so far; a second one alike gets the file's whole name, then a number.
class Names {
 public:
  std::string unique(const std::string& name, const std::string& whole) {
    std::string result = name;
    if (taken_.contains(result)) result = whole;
    for (int i = 2; taken_.contains(result); ++i) result = fmt::format("{} ({})", whole, i);
    taken_.insert(result);
    return result;
  }

 private:
  std::set<std::string> taken_;
};

std::string shape_of(bool folders, bool files) {
  if (folders && files) return "one folder or file a student";
  return folders ? "one folder a student" : "one file a student";
}

// What the entry of the class's folder is: a hand-in is added, or a note.
void read_entry(Batch& batch, const Reader& reader, const Folder& folder, const fs::path& path,
                const std::string& name, bool files_count, Names& names) {
  const unsigned mode = folder.mode(name);
  const std::string whole = readable(name);
  if (S_ISDIR(mode)) {
    const std::string student = names.unique(whole, whole);
    const Folder inner(folder.fd(), name.c_str(), false);
    batch.hand_ins.push_back(
        inner.is_open() ? reader.from_folder(inner, path / name, student)
                        : refused(student, errors::unreadable(whole, std::strerror(errno))));
    return;
  }
  if (S_ISREG(mode) && !(files_count && is_source(name))) {
    const std::string ending = fs::path(name).extension().string();
    const bool archive = ending == ".zip" || ending == ".gz" || ending == ".tar" || ending == ".xz";
    batch.notes.push_back(errors::nobodys(whole, archive ? "unpack it first" : ""));
    return;
  }
  const std::string stem = S_ISREG(mode) ? readable(fs::path(name).stem().string()) : whole;
  const std::string student = names.unique(stem, whole);
  if (S_ISREG(mode)) {
    batch.hand_ins.push_back(reader.from_file(folder.fd(), name, path / name, student, false));
  } else {
    batch.hand_ins.push_back(refused(student, errors::not_regular(whole, kind_of(mode))));
  }
  if (student != stem) batch.hand_ins.back().notes.push_back(errors::twice(whole));
}

// A name such as "..anna" hides a folder from every listing: it must not be lost without a word.
void note_hidden(Batch& batch, const Folder& folder, const std::string& wanted) {
  for (const std::string& name : folder.hidden_names()) {
    if (folder.mode(name + "/" + wanted) == 0) continue;
    batch.notes.push_back(
        errors::nobodys(readable(name), "its name begins with a dot: rename it if it is one"));
  }
}

void check_folder(const fs::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw errors::no_folder(path.string());
    throw errors::unreadable_folder(path.string(), std::strerror(errno));
  }
  if (!S_ISDIR(status.st_mode)) throw errors::not_a_folder(path.string(), kind_of(status.st_mode));
}

std::string name_of_folder(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  const std::string name = readable((error ? path : whole).filename().string());
  return name.empty() ? "hand-in" : name;
}

}  // namespace

Batch read_hand_ins(const fs::path& path, const Manifest& manifest, const fs::path& work) {
  check_folder(path);
  const Folder folder(AT_FDCWD, path.c_str(), true);
  if (!folder.is_open()) throw errors::unreadable_folder(path.string(), std::strerror(errno));
  const std::vector<std::string> entries = folder.names();
  if (entries.empty()) throw errors::empty_folder(path.string());

  const Reader reader(manifest, work);
  Batch batch;
  auto wanted = manifest.hand_in;
  std::sort(wanted.begin(), wanted.end());
  if (entries == wanted) {
    batch.shape = "one hand-in";
    batch.hand_ins.push_back(reader.from_folder(folder, path, name_of_folder(path)));
    return batch;
  }
  Names names;
  bool folders = false, files = false;
  for (const std::string& name : entries) {
    const auto before = batch.hand_ins.size();
    read_entry(batch, reader, folder, path, name, manifest.hand_in.size() == 1, names);
    if (batch.hand_ins.size() > before) (S_ISDIR(folder.mode(name)) ? folders : files) = true;
  }
  if (batch.hand_ins.empty()) throw errors::no_hand_in(path.string(), manifest.hand_in.front());
  note_hidden(batch, folder, manifest.hand_in.front());
  std::sort(batch.hand_ins.begin(), batch.hand_ins.end(),
            [](const HandIn& a, const HandIn& b) { return a.student < b.student; });
  batch.shape = shape_of(folders, files);
  return batch;
}

HandIn read_file(const fs::path& file, const Manifest& manifest, const std::string& student,
                 const fs::path& work) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) {
    throw errors::no_file(file.string(), std::strerror(errno));
  }
  return Reader(manifest, work).from_file(AT_FDCWD, file.string(), file, student, true);
}

}  // namespace gradlab::intake
