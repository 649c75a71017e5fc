// The frame decoder against what a hostile runner may send.
#include "protocol/frame.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace gradlab::protocol {
namespace {

std::string prefix(uint32_t head, uint64_t body) {
  std::string bytes(12, '\0');
  std::memcpy(bytes.data(), &head, 4);
  std::memcpy(bytes.data() + 4, &body, 8);
  return bytes;
}

std::string with_head(const std::string& head) {
  return prefix(static_cast<uint32_t>(head.size()), 0) + head;
}

TEST(Frame, comes_back_as_it_was_sent) {
  Frame frame;
  frame.head = {{"case", 3}, {"words", {{"ended", "returned"}}}};
  frame.body = std::string("\0\1\2", 3);
  FrameDecoder decoder;
  decoder.feed(encode(frame));
  const auto back = decoder.next();
  ASSERT_TRUE(back);
  EXPECT_EQ(back->head, frame.head);
  EXPECT_EQ(back->body, frame.body);
  EXPECT_TRUE(decoder.empty());
}

TEST(Frame, waits_for_every_byte) {
  const std::string bytes = encode({{{"a", 1}}, "xyz"});
  FrameDecoder decoder;
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    decoder.feed(bytes.substr(i, 1));
    ASSERT_FALSE(decoder.next()) << i;
  }
  decoder.feed(bytes.substr(bytes.size() - 1));
  EXPECT_TRUE(decoder.next());
}

TEST(Frame, two_in_one_piece_are_two) {
  FrameDecoder decoder;
  decoder.feed(encode({{{"n", 1}}, ""}) + encode({{{"n", 2}}, ""}));
  EXPECT_EQ(decoder.next()->head["n"], 1);
  EXPECT_EQ(decoder.next()->head["n"], 2);
  EXPECT_FALSE(decoder.next());
}

TEST(Frame, a_size_over_the_limit_is_refused_before_it_is_waited_for) {
  FrameDecoder decoder({1024, 4096});
  decoder.feed(prefix(10, uint64_t{1} << 60));
  EXPECT_THROW(decoder.next(), MalformedFrame);
  FrameDecoder other({1024, 4096});
  other.feed(prefix(0xffffffff, 0));
  EXPECT_THROW(other.next(), MalformedFrame);
}

TEST(Frame, a_head_that_is_no_object_is_refused) {
  for (const char* head : {"", "[]", "7", "\"x\"", "{", "{\"a\":}", "nul", "{} {}"}) {
    FrameDecoder decoder;
    decoder.feed(with_head(head));
    EXPECT_THROW(decoder.next(), MalformedFrame) << head;
  }
}

TEST(Frame, deep_nesting_is_refused_and_ends_nothing) {
  std::string deep(100000, '[');
  FrameDecoder decoder;
  decoder.feed(with_head("{\"a\":" + deep));
  EXPECT_THROW(decoder.next(), MalformedFrame);
  FrameDecoder closed;
  closed.feed(with_head("{\"a\":" + std::string(50, '[') + std::string(50, ']') + "}"));
  EXPECT_THROW(closed.next(), MalformedFrame);
}

TEST(Frame, bytes_that_are_no_utf8_are_replaced_when_written) {
  Frame frame;
  frame.head = {{"threw", "bad \xff\xfe byte"}};
  FrameDecoder decoder;
  decoder.feed(encode(frame));
  EXPECT_THAT(decoder.next()->head["threw"].get<std::string>(), testing::HasSubstr("bad "));
}

}  // namespace
}  // namespace gradlab::protocol
