// SHA-256 (FIPS 180-4), for file hashes in records and for cutting long names.
#pragma once

#include <string>
#include <string_view>

namespace gradlab::record {

std::string sha256(std::string_view bytes);  // 64 hex digits, lower case

}  // namespace gradlab::record
