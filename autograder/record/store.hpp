// Records on disk. A file is either the old one or the new one, whole: written beside it, synced,
// then renamed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "record/record.hpp"

namespace gradlab::record {

// A student's name as one path component: bytes outside [A-Za-z0-9._-] and a leading dot as %XX; a
// long one is cut and ends in a hash. Different names give different results.
std::string file_stem(std::string_view student);

// kNo for what can be written again from records: a sync costs milliseconds.
enum class Sync { kYes, kNo };

// Throws RecordError (kWrite) that names the path and what the system said; the earlier file is
// kept then.
void write_file(const std::filesystem::path& path, std::string_view bytes, Sync sync = Sync::kYes);

void write_record(const std::filesystem::path& path, const Record& record);
// Throws RecordError: kNoFile when it cannot be read, kDamaged with field and value otherwise.
Record read_record(const std::filesystem::path& path);

}  // namespace gradlab::record
