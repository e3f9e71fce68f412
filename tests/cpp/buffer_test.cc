// SPDX-License-Identifier: MIT
// Buffers of a C++ program.
#include <shoal/buffer.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using shoal::Buffer;
using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls): it is used

TEST_CASE("a buffer without bytes is empty") {
  const Buffer none;
  CHECK(none.empty());
  CHECK(none.size() == 0);
  CHECK(none.Slice(3).empty());
  CHECK(none == Buffer::Copy(""));
}

TEST_CASE("a buffer has a copy of the bytes that it is made of") {
  std::string text = "the bytes\0behind"s;
  const Buffer buffer = Buffer::Copy(text);
  text[0] = 'T';
  CHECK(buffer.text() == "the bytes\0behind"s);
  CHECK(Buffer::Copy(std::as_bytes(std::span("ab", 2))).text() == "ab");
}

TEST_CASE("what a buffer adopts is not copied") {
  std::vector<std::uint8_t> bytes(1000, 7);
  const auto* const data = bytes.data();
  const Buffer buffer = Buffer::Adopt(std::move(bytes));
  CHECK(reinterpret_cast<const std::uint8_t*>(buffer.bytes().data()) == data);
  CHECK(buffer.size() == 1000);
  std::vector<std::byte> more(10, std::byte{1});
  const Buffer adopted = Buffer::Adopt(std::move(more));
  CHECK(adopted.size() == 10);
  std::string text(100, 'x');
  const char* const at = text.data();
  const Buffer of_text = Buffer::Adopt(std::move(text));
  CHECK(of_text.text().data() == at);
  // One that has its bytes inside takes them along.
  CHECK(Buffer::Adopt(std::string("short")).text() == "short");
  CHECK(Buffer::Adopt(std::string()).empty());
}

TEST_CASE("a view keeps its owner as long as somebody has the bytes") {
  const auto owner = std::make_shared<std::array<std::byte, 8>>();
  const std::weak_ptr<void> watch = owner;
  Buffer slice = Buffer::View(*owner, owner).Slice(2, 3);
  CHECK(owner.use_count() == 2);
  CHECK(slice.bytes().data() == owner->data() + 2);
  CHECK(slice.size() == 3);
  slice = {};
  CHECK(owner.use_count() == 1);
  CHECK(Buffer::View({}, nullptr).empty());
}

TEST_CASE("a slice is cut off at the end") {
  const Buffer buffer = Buffer::Copy("0123456789");
  CHECK(buffer.Slice(0) == buffer);
  CHECK(buffer.Slice(8).text() == "89");
  CHECK(buffer.Slice(8, 100).text() == "89");
  CHECK(buffer.Slice(2, 3).text() == "234");
  CHECK(buffer.Slice(10).empty());
  CHECK(buffer.Slice(SIZE_MAX, SIZE_MAX).empty());
  CHECK(buffer.Slice(2, 6).Slice(1, 2).text() == "34");
}

TEST_CASE("copies of a buffer share its bytes") {
  Buffer first = Buffer::Copy("shared");
  const Buffer second = first;
  Buffer third;
  third = second;
  CHECK(third.text().data() == first.text().data());
  first = Buffer::Copy("other");
  CHECK(second.text() == "shared");
  CHECK(second != first);
  third = std::move(first);
  CHECK(third.text() == "other");
  Buffer& same = third;
  third = same;
  CHECK(third.text() == "other");
}

}  // namespace
