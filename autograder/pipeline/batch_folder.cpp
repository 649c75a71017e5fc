#include "pipeline/batch_folder.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <fstream>

#include "record/store.hpp"

namespace gradlab::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr char kSchema[] = "gradlab/batch/1";

nlohmann::json read_json(const fs::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in, nullptr, false);
}

}  // namespace

std::string fresh_seed() {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    throw std::runtime_error("the system gave no random bytes for a seed; name one with --seed");
  }
  return fmt::format("{:016x}", bits);
}

BatchFolder::BatchFolder(fs::path out, const std::string& lab, const fs::path& hand_ins,
                         const std::string& seed)
    : out_(std::move(out)), seed_(seed) {
  const fs::path batch = out_ / "batch.json";
  if (!fs::exists(batch)) {
    std::error_code ignored;
    if (fs::exists(out_) && !fs::is_empty(out_, ignored)) {
      throw BatchError(fmt::format(
          "{} holds files but no batch of gradlab; name an empty or new folder with --out",
          out_.string()));
    }
    create(lab, hand_ins);
    return;
  }
  const auto known = read_json(batch);
  if (!known.is_object() || known.value("schema", "") != kSchema || !known.contains("seed") ||
      !known["seed"].is_string()) {
    throw BatchError(fmt::format(
        "{} is damaged or of another version; move it away, or name another folder with --out",
        batch.string()));
  }
  const auto kept = known["seed"].get<std::string>();
  if (known.value("lab", "") != lab || known.value("hand_ins", "") != hand_ins.string()) {
    throw BatchError(
        fmt::format("{} holds another batch (lab {}, {}); name another folder with "
                    "--out",
                    out_.string(), known.value("lab", "?"), known.value("hand_ins", "?")));
  }
  if (!seed.empty() && seed != kept) {
    throw BatchError(
        fmt::format("{} was graded with seed {}, not {}: leave --seed out to go on, "
                    "or name another folder with --out",
                    out_.string(), kept, seed));
  }
  seed_ = kept;
}

void BatchFolder::create(const std::string& lab, const fs::path& hand_ins) {
  is_new_ = true;
  if (seed_.empty()) seed_ = fresh_seed();
  std::error_code error;
  fs::create_directories(out_ / "records", error);
  if (error) {
    throw BatchError(fmt::format("{} cannot be made: {}", out_.string(), error.message()));
  }
  const nlohmann::json batch = {
      {"schema", kSchema}, {"lab", lab}, {"hand_ins", hand_ins.string()}, {"seed", seed_}};
  record::write_file(out_ / "batch.json", batch.dump(2) + "\n");
}

fs::path BatchFolder::record_path(const std::string& student) const {
  return out_ / "records" / (record::file_stem(student) + ".json");
}

std::optional<Record> BatchFolder::earlier(const std::string& student) const {
  const auto path = record_path(student);
  if (!fs::exists(path)) return std::nullopt;
  try {
    return record::read_record(path);
  } catch (const RecordError&) {
    return std::nullopt;
  }
}

Record BatchFolder::keep(const Record& record) const {
  const auto before = earlier(record.student);
  if (!record.score && before && before->score) {
    Record kept = *before;
    const std::string note =
        "graded again, but the grader failed then; this is the earlier result: " + record.message;
    if (kept.notes.empty() || kept.notes.back() != note) kept.notes.push_back(note);
    record::write_record(record_path(record.student), kept);
    return kept;
  }
  Record written = record;
  if (before) {
    const bool same_files =
        before->files.size() == record.files.size() &&
        std::equal(before->files.begin(), before->files.end(), record.files.begin(),
                   [](const auto& a, const auto& b) { return a.sha256 == b.sha256; });
    // A fault of the grader uses no attempt up, and the same files are the same attempt.
    written.attempt = before->attempt + (same_files || !before->score ? 0 : 1);
  }
  record::write_record(record_path(record.student), written);
  return written;
}

bool still_holds(const Record& record, const intake::HandIn& hand_in, const std::string& seed,
                 const record::Grader& grader) {
  if (!record.score || record.seed != seed || record.files.size() != hand_in.files.size()) {
    return false;
  }
  for (size_t i = 0; i < record.files.size(); ++i) {
    if (record.files[i].sha256 != hand_in.files[i].sha256) return false;
  }
  // Without files there is nothing that would show a change.
  if (hand_in.files.empty()) return false;
  return record.grader.checks_sha256 == grader.checks_sha256 &&
         record.grader.torch == grader.torch && record.grader.compiler == grader.compiler &&
         record.grader.version == grader.version;
}

}  // namespace gradlab::pipeline
