#include "protocol/singular.hpp"

namespace gradlab {

std::string singular(std::string name) {
  const bool hisses = name.ends_with("sses") || name.ends_with("iases");  // losses, aliases
  if (name.size() > 2 && name.back() == 's') name.resize(name.size() - (hisses ? 2 : 1));
  return name;
}

}  // namespace gradlab
