#include "cli/app.hpp"

namespace gradlab::cli {

void add_doctor(CLI::App& app, Session&) { add_verb(app, {"doctor", kForStudents, "not written yet", "./gradlab doctor"}); }

}  // namespace gradlab::cli
