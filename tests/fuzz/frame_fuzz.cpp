// The frame decoder, fed in pieces as a pipe would: it throws MalformedFrame or gives frames that
// can be sent again and come back the same.
#include <cstdlib>

#include "protocol/frame.hpp"

namespace {

using gradlab::protocol::Frame;
using gradlab::protocol::FrameDecoder;

// Small limits, so that what lies at a limit is reached.
constexpr gradlab::protocol::FrameLimits kLimits{1u << 10, 1u << 12};

void expect_same_again(const Frame& frame) {
  FrameDecoder decoder;
  decoder.feed(gradlab::protocol::encode(frame));
  const auto again = decoder.next();
  // Compared as text: NaN, which JSON text can't hold, never comes out of a decoder.
  if (!again || again->head.dump() != frame.head.dump() || again->body != frame.body ||
      !decoder.empty()) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FrameDecoder decoder(kLimits);
  try {
    for (size_t from = 0; from < size;) {
      const size_t piece = 1 + static_cast<unsigned char>(bytes[from]) % 64;
      decoder.feed(bytes.substr(from, piece));
      from += piece;
      while (const auto frame = decoder.next()) expect_same_again(*frame);
    }
  } catch (const gradlab::protocol::MalformedFrame&) {
  }
  return 0;
}
