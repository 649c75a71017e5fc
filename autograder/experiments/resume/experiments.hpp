// The resume lab's experiments: of parts of a trainer, and of whole checkpoints.
#pragma once

#include "protocol/case.hpp"
#include "protocol/observation.hpp"
#include "resume.hpp"

namespace gradlab::resume_runs {

using resume::Impl;

Observation resumed(const Impl& impl, const Case& in);
Observation saved_along(const Impl& impl, const Case& in);
Observation empty_state(const Impl& impl, const Case& in);

Observation resumed_file(const Impl& impl, const Case& in);
Observation refused_file(const Impl& impl, const Case& in);
Observation other_model(const Impl& impl, const Case& in);
Observation interrupted_save(const Impl& impl, const Case& in);
Observation replaced_file(const Impl& impl, const Case& in);
Observation open_file(const Impl& impl, const Case& in);

}  // namespace gradlab::resume_runs
