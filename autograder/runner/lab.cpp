#include "runner/lab.hpp"

namespace gradlab {

Lab& lab() {
  static Lab the_lab;
  return the_lab;
}

}  // namespace gradlab
