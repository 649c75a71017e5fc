#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox {

std::string to_string(Isolation isolation) {
  switch (isolation) {
    case Isolation::kFull:
      return "full";
    case Isolation::kContainer:
      return "container";
    case Isolation::kNone:
      break;
  }
  return "none";
}

std::optional<Isolation> isolation_from(std::string_view text) {
  for (const Isolation isolation : {Isolation::kFull, Isolation::kContainer, Isolation::kNone}) {
    if (to_string(isolation) == text) return isolation;
  }
  return std::nullopt;
}

std::string path_inside(const Command& command, Isolation isolation, const std::string& inside) {
  if (isolation == Isolation::kFull) return inside;
  for (auto mount = command.mounts.rbegin(); mount != command.mounts.rend(); ++mount) {
    const std::string& at = mount->inside;
    if (inside == at) return mount->host;
    if (inside.starts_with(at) && inside[at.size()] == '/') {
      return mount->host + inside.substr(at.size());
    }
  }
  return inside;
}

}  // namespace gradlab::sandbox
