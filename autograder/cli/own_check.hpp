// A student's own file through compiler and judge: what `check` does once and `watch` again and
// again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/grader.hpp"
#include "render/check_text.hpp"

namespace gradlab::cli {

class OwnCheck {
 public:
  // Builds what is missing. The judge stays loaded from the first run() on. Throws GraderFault,
  // UsageError.
  OwnCheck(const Session& session, Manifest lab, const std::string& isolation = "");

  struct Order {
    std::string file;
    std::string seed = kPublicSeed;
    std::optional<int> task;    // only this one
    std::string shown_command;  // the --file of the command that repeats it; empty: work/<slug>.cpp
  };
  using OnVerdicts = std::function<void(const Record&)>;
  // `on_verdicts`: called once all verdicts are in, before the diagnosis. Throws UsageError for a
  // file that cannot be read.
  Record run(const Order& order, const OnVerdicts& on_verdicts = {});

  // Throws UsageError for a file that cannot be read.
  static void look(const Manifest& lab, const std::string& file);

  // How the record of this file is told here.
  render::CheckOptions view(const std::string& file) const;
  render::CheckOptions view(const std::string& file, const Record& record) const;
  // As the lab's last one, for list, status and watch.
  void keep(const Record& record) const;

  const Manifest& lab() const { return lab_; }

 private:
  const Session& session_;
  Manifest lab_;
  pipeline::Setup setup_;
  std::unique_ptr<pipeline::Worker> worker_;
};

}  // namespace gradlab::cli
