// The unit of talk between judge and runner: a length, a JSON head, raw bytes. Both ends share this
// file; what comes from a runner is hostile, so no count is believed before it is capped.
// Layout: uint32 head size, uint64 body size (little endian), head (UTF-8 JSON object), body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gradlab::protocol {

struct Frame {
  nlohmann::json head = nlohmann::json::object();
  std::string body;
};

// The largest frame that a reader takes, in bytes.
struct FrameLimits {
  uint32_t head = 4u << 20;
  uint64_t body = 256u << 20;
};

// A stream that is not made of frames within the limits. The stream is of no use after it.
class MalformedFrame : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Turns bytes, as they come, into frames.
class FrameDecoder {
 public:
  explicit FrameDecoder(FrameLimits limits = {}) : limits_(limits) {}

  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole frame, or nothing until more bytes were fed. Throws MalformedFrame.
  std::optional<Frame> next();
  bool empty() const { return buffer_.empty(); }
  void clear() { buffer_.clear(); }

 private:
  FrameLimits limits_;
  std::string buffer_;
};

std::string encode(const Frame& frame);

// Writes a whole frame to a blocking descriptor. False when the other end is gone.
bool write_frame(int descriptor, const Frame& frame);

// Reads a whole frame from a blocking descriptor; nothing at the end of the stream.
// Throws MalformedFrame.
std::optional<Frame> read_frame(int descriptor, FrameDecoder& decoder);

}  // namespace gradlab::protocol
