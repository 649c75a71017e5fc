#include "cli/app.hpp"

namespace gradlab::cli {

void add_new(CLI::App& app, Session&) { add_verb(app, {"new", kForStudents, "not written yet", "./gradlab new"}); }

}  // namespace gradlab::cli
