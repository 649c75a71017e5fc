#include "protocol/frame.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace gradlab::protocol {
namespace {

constexpr size_t kPrefix = sizeof(uint32_t) + sizeof(uint64_t);
constexpr int kMaxDepth = 8;  // heads are flat; anything deeper was not written by us

nlohmann::json parse_head(std::string_view text) {
  // Never CBOR here: its parser recurses, and a run of nested openings ends the process.
  int depth_seen = 0;
  auto head = nlohmann::json::parse(
      text,
      [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        depth_seen = std::max(depth_seen, depth);
        return depth <= kMaxDepth;
      },
      /*allow_exceptions=*/false);
  if (depth_seen > kMaxDepth) throw MalformedFrame("a frame's head is nested too deep");
  if (!head.is_object()) throw MalformedFrame("a frame's head is not a JSON object");
  return head;
}

}  // namespace

std::optional<Frame> FrameDecoder::next() {
  if (buffer_.size() < kPrefix) return std::nullopt;
  uint32_t head_size = 0;
  uint64_t body_size = 0;
  std::memcpy(&head_size, buffer_.data(), sizeof head_size);
  std::memcpy(&body_size, buffer_.data() + sizeof head_size, sizeof body_size);
  if (head_size > limits_.head || body_size > limits_.body) {
    throw MalformedFrame(fmt::format("a frame claims {} + {} bytes, the most is {} + {}", head_size,
                                     body_size, limits_.head, limits_.body));
  }
  const size_t whole = kPrefix + head_size + static_cast<size_t>(body_size);
  if (buffer_.size() < whole) return std::nullopt;
  Frame frame;
  frame.head = parse_head(std::string_view(buffer_).substr(kPrefix, head_size));
  frame.body = buffer_.substr(kPrefix + head_size, static_cast<size_t>(body_size));
  buffer_.erase(0, whole);
  return frame;
}

std::string encode(const Frame& frame) {
  const std::string head =
      frame.head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto head_size = static_cast<uint32_t>(head.size());
  const uint64_t body_size = frame.body.size();
  std::string bytes(kPrefix, '\0');
  std::memcpy(bytes.data(), &head_size, sizeof head_size);
  std::memcpy(bytes.data() + sizeof head_size, &body_size, sizeof body_size);
  bytes += head;
  bytes += frame.body;
  return bytes;
}

bool write_frame(int descriptor, const Frame& frame) {
  const std::string bytes = encode(frame);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

std::optional<Frame> read_frame(int descriptor, FrameDecoder& decoder) {
  static constexpr size_t kChunk = 1u << 18;
  std::string chunk(kChunk, '\0');
  for (;;) {
    if (auto frame = decoder.next()) return frame;
    const ssize_t n = read(descriptor, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    decoder.feed(std::string_view(chunk.data(), static_cast<size_t>(n)));
  }
}

}  // namespace gradlab::protocol
