// What check, grade, replay, debug and doctor need before they can look at a hand-in.
#pragma once

#include <string>

#include "cli/app.hpp"
#include "pipeline/batch_folder.hpp"
#include "pipeline/pipeline.hpp"

namespace gradlab::cli {

// The seed of `check`: fixed and public, so that a student's verdict is the same on every run.
inline constexpr char kPublicSeed[] = "1";

// Toolchain and isolation, with the lab built and its precompiled header ready. `own_file`: the
// code is the user's own, so a machine without isolation is told of once and used all the same;
// otherwise it is refused unless `wanted` is "container" or "none". Throws GraderFault, UsageError.
pipeline::Setup prepare_grader(const Session& session, const Manifest& lab, bool own_file,
                               const std::string& wanted = "");

// Opens what the command line names. What cannot be used is wrong use, no fault of the grader.
template <typename Open>
auto named_by_user(Open open) {
  try {
    return open();
  } catch (const intake::IntakeError& error) {
    if (error.kind() == intake::IntakeErrorKind::kWork) throw;
    throw UsageError(error.what());
  } catch (const pipeline::BatchError& error) {
    throw UsageError(error.what());
  } catch (const RecordError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace gradlab::cli
