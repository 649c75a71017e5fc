// An answer of a runner: a head that is any JSON, a body of any bytes. It is refused by one of two
// exceptions, or taken as an observation that can be sent again.
#include "protocol/frame.hpp"
#include "protocol/observation.hpp"
#include "protocol/tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gradlab;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t border = std::min(bytes.find('\0'), size);
  protocol::Frame frame;
  frame.head = nlohmann::json::parse(bytes.substr(0, border), nullptr, false);
  if (!frame.head.is_object()) return 0;
  if (border < size) frame.body = bytes.substr(border + 1);
  try {
    const auto seen = Observation::from_frame(frame);
    Observation::from_frame(seen.to_frame());
  } catch (const protocol::MalformedFrame&) {
  } catch (const protocol::MalformedTensor&) {
  }
  return 0;
}
