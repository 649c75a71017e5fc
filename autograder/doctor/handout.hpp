// Is what a handout says still true? Prose is held to the lab by what stands in it as code.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "doctor/contents.hpp"
#include "doctor/proof.hpp"
#include "manifest/manifest.hpp"

namespace gradlab::doctor {

struct Surroundings {
  std::filesystem::path root;
  std::filesystem::path torch;  // holds include/
  // What is wrong with a command line such as "./gradlab check clipping"; empty when nothing is.
  std::function<std::string(const std::string& line)> wrong_command;
};

// handouts/<slug>.md has a section "## Task N" for each task, which names its functions and shows
// its command; every path, command, function of the contract and check that it names exists.
Proof handout(const Manifest& lab, const Contents& contents, const Surroundings& around);

}  // namespace gradlab::doctor
