// log follow: prints a log's story as its file grows.
#pragma once

#include <string>

#include "cli/app.hpp"

namespace gradlab::cli {

// Until the run's end is logged, or SIGINT or SIGTERM. A file that shrinks is read anew. Returns
// the exit status. Throws UsageError where the file cannot be read.
int follow(const std::string& path, const Session& session);

}  // namespace gradlab::cli
