#include <torch/serialize/archive.h>

#include "errors.hpp"
#include "gradlab/monitor/monitor.hpp"
#include "gradlab/monitor/state.hpp"

namespace gradlab::monitor {
namespace {

constexpr const char* kArchiveKey = "gradlab_monitor";

}  // namespace

torch::serialize::OutputArchive& operator<<(torch::serialize::OutputArchive& archive,
                                            const Monitor& monitor) {
  archive.write(kArchiveKey, c10::IValue(monitor.state()));
  return archive;
}

torch::serialize::InputArchive& operator>>(torch::serialize::InputArchive& archive,
                                           Monitor& monitor) {
  c10::IValue value;
  if (!archive.try_read(kArchiveKey, value) || !value.isString()) {
    throw errors::bad_state(std::string("it has no text '") + kArchiveKey + "'");
  }
  monitor.load_state(value.toStringRef());
  return archive;
}

}  // namespace gradlab::monitor
