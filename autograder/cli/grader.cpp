#include "cli/grader.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <future>

#include "cli/build.hpp"
#include "cli/machine_limits.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

sandbox::Isolation container_or_refuse() {
  const std::string& why_not = sandbox::probe_container();
  if (why_not.empty()) return sandbox::Isolation::kContainer;
  throw GraderFault(
      fmt::format("isolation 'container' does not work here: {}\nNothing was graded and no attempt "
                  "is used up.",
                  why_not));
}

// The ways on where full does not work, in the order of what they are worth.
std::string other_isolations() {
  std::string ways;
  if (sandbox::probe_container().empty()) {
    ways =
        "Where this machine is a container that serves grading alone: --isolation container, which "
        "holds less (each record says what).\n";
  }
  return ways + "For code that you trust: --isolation none, which every record then names.";
}

sandbox::Isolation isolation_for(const Session& session, const sandbox::Probe& probe, bool own_file,
                                 const std::string& wanted) {
  if (!wanted.empty()) {
    const auto named = sandbox::isolation_from(wanted);
    if (!named) {
      throw UsageError(
          fmt::format("there is no isolation '{}': it is full, container or none", wanted));
    }
    if (*named == sandbox::Isolation::kContainer) return container_or_refuse();
    if (*named == sandbox::Isolation::kNone) return *named;
  }
  if (probe.best == sandbox::Isolation::kFull) return sandbox::Isolation::kFull;
  if (!own_file || !wanted.empty()) {
    throw GraderFault(fmt::format(
        "no isolation on this machine: {}\n{}\nNothing was graded and no attempt is used up.\n{}",
        probe.why_not_full, probe.remedy, other_isolations()));
  }
  const fs::path told = session.workspace.state_dir() / "told-not-isolated";
  if (!fs::exists(told)) {
    note(fmt::format("your file runs without isolation here: {}\n{}\n(said once)",
                     probe.why_not_full, probe.remedy));
    fclose(fopen(told.c_str(), "w"));
  }
  return sandbox::Isolation::kNone;
}

}  // namespace

pipeline::Setup prepare_grader(const Session& session, const Manifest& lab, bool own_file,
                               const std::string& wanted) {
  refuse_low_limits(lab);
  // The probe runs a small box; ninja looks at files: neither waits for the other.
  auto probed = std::async(std::launch::async, [] { return sandbox::probe(); });
  const auto& workspace = session.workspace;
  ensure_built(workspace, lab.slug);
  pipeline::Setup setup;
  setup.root = workspace.root().string();
  setup.build = workspace.build_dir().string();
  setup.toolchain = compile::read_toolchain(setup.root);
  setup.isolation = isolation_for(session, probed.get(), own_file, wanted);
  compile::Compiler compiler(setup.toolchain, setup.isolation);
  if (!compiler.prepared(lab)) {
    note(fmt::format("precompiling the headers of the {} lab (once, about 15 s)", lab.slug));
    compiler.prepare(lab);
  }
  return setup;
}

}  // namespace gradlab::cli
