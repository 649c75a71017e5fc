// grade --audit-seeds: a batch graded with many seeds, and in words which scores depend on the
// seed.
#pragma once

#include "cli/app.hpp"
#include "pipeline/batch.hpp"

namespace gradlab::cli {

// Sets session.exit_status to kCheckFailed when one does: then a check is faulty.
void audit_seeds(const pipeline::BatchRun& run, int count, Session& session);

}  // namespace gradlab::cli
