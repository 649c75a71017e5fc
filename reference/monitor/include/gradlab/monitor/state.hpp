// A monitor's state in LibTorch's archives.
#pragma once

#include "gradlab/monitor/error.hpp"

namespace torch::serialize {
class InputArchive;
class OutputArchive;
}  // namespace torch::serialize

namespace gradlab::monitor {

class Monitor;

// With torch/serialize.h: torch::save(monitor, "monitor.pt"), torch::load(monitor, "monitor.pt");
// or as a part of a larger archive: archive << monitor. What is saved is Monitor::state(). Loading
// is all or nothing. THROWS Error kBadState; LibTorch's own c10::Error where the file is no archive
// or is cut short.
torch::serialize::OutputArchive& operator<<(torch::serialize::OutputArchive& archive,
                                            const Monitor& monitor);
torch::serialize::InputArchive& operator>>(torch::serialize::InputArchive& archive,
                                           Monitor& monitor);

}  // namespace gradlab::monitor
