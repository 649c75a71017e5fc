// Questions and answers on this terminal, or through a pipe.
#pragma once

#include "cli/app.hpp"
#include "drills/session.hpp"

namespace gradlab::cli {

drills::Talk talk_with(const Session& session, bool plain);

}  // namespace gradlab::cli
