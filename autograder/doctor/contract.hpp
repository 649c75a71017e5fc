// Does everything that names a lab's tasks and checks name the same ones?
#pragma once

#include <filesystem>

#include "doctor/contents.hpp"
#include "doctor/proof.hpp"
#include "manifest/manifest.hpp"

namespace gradlab::doctor {

// lab.toml, the judge's checks, the contract's functions, and what each bug says of itself.
Proof contract(const Manifest& lab, const Contents& contents,
               const std::filesystem::path& contract_header);

// Whether the judge has every check that lab.toml names. Where it has not, no grading would end.
bool can_be_run(const Manifest& lab, const Contents& contents);

// The functions of each task, by the labels of the contract's Impl: {"total_norm", 1}.
struct ContractFunction {
  std::string name;
  int task = 0;
};
std::vector<ContractFunction> functions_of(const std::string& slug, const std::string& header);

}  // namespace gradlab::doctor
