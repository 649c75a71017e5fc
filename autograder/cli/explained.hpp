// Which skips of which logs have been explained: .gradlab/explained.json.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "cli/workspace.hpp"

namespace gradlab::cli {

struct ExplainedLog {
  std::string file;                  // as it was named, from the root
  std::set<std::int64_t> skips;      // the first step of each row of skips
  std::set<std::int64_t> explained;  // those whose questions were all answered
  bool whole() const { return explained == skips; }
};

// By the log's sha256: a log that was changed or written anew is another one.
using ExplainedLogs = std::map<std::string, ExplainedLog>;

// A file that cannot be read is put aside with a note, or with `look_only` left where it is.
ExplainedLogs explained_logs(const Workspace& workspace, bool look_only = false);
// Throws GraderFault.
void keep(const Workspace& workspace, const ExplainedLogs& logs);

}  // namespace gradlab::cli
