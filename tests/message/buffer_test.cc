// SPDX-License-Identifier: MIT
#include "runtime/message/buffer.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/message/message.h"

namespace shoal::core {
namespace {

Ref<Buffer> Filled(std::string_view text) {
  Ref<Buffer> buffer = Buffer::New(text.size());
  if (!text.empty()) std::memcpy(buffer->room(), text.data(), text.size());
  return buffer;
}

std::string TextOf(const Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.bytes().data()), buffer.size()};
}

class Counted final : public RefCounted {
 public:
  explicit Counted(int* alive) : alive_(alive) { ++*alive_; }
  ~Counted() override { --*alive_; }

 private:
  int* alive_;
};

MessagePtr Holding(const std::vector<Ref<Buffer>>& buffers) {
  std::vector<RefCounted*> references;
  for (const Ref<Buffer>& buffer : buffers) references.push_back(buffer.get());
  return Message::New({}, references);
}

TEST_CASE("a buffer has the bytes that its maker wrote, of any length") {
  for (const std::size_t size : {0, 1, 15, 16, 4096, 1'000'000}) {
    const std::string text(size, 'x');
    const Ref<Buffer> buffer = Filled(text);
    CHECK(buffer->kind() == RefCounted::Kind::kBuffer);
    CHECK(TextOf(*buffer) == text);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer->bytes().data()) % alignof(std::max_align_t) ==
          0);
  }
}

TEST_CASE("a size that no memory can hold makes no buffer") {
  CHECK(!Buffer::New(SIZE_MAX));
  CHECK(!Buffer::New(SIZE_MAX / 2));
}

TEST_CASE("a slice shares the bytes of the whole, and keeps them") {
  Ref<Buffer> whole = Filled("the whole text");
  const Ref<Buffer> slice = whole->Slice(4, 5);
  CHECK(slice->bytes().data() == whole->bytes().data() + 4);
  const Ref<Buffer> part = slice->Slice(1, 3);
  whole = {};
  CHECK(TextOf(*slice) == "whole");
  CHECK(TextOf(*part) == "hol");
  CHECK(TextOf(*part->Slice(3, 0)).empty());
}

TEST_CASE("a slice of all is the buffer itself; one of a slice does not keep that one") {
  const Ref<Buffer> whole = Filled("abc");
  CHECK(whole->Slice(0, 3).get() == whole.get());
  const Ref<Buffer> slice = whole->Slice(0, 2);
  const Ref<Buffer> part = slice->Slice(1, 1);
  CHECK(slice->references() == 1);
  CHECK(whole->references() == 3);
}

TEST_CASE("a view keeps the owner of the bytes as long as it or a slice of it lives") {
  int alive = 0;
  const std::array<std::byte, 4> bytes{};
  Ref<Buffer> slice;
  {
    const Ref<Buffer> view = Buffer::View(bytes, Ref<RefCounted>::Adopt(new Counted(&alive)));
    CHECK(view->bytes().data() == bytes.data());
    slice = view->Slice(1, 2);
  }
  CHECK(alive == 1);
  CHECK(slice->bytes().data() == bytes.data() + 1);
  slice = {};
  CHECK(alive == 0);
}

TEST_CASE("a message counts the bytes of its buffers as its own") {
  const Ref<Buffer> large = Filled(std::string(1'000'000, 'x'));
  CHECK(Holding({large})->footprint() == Message::kNodeSize + 1'000'000);
  CHECK(Holding({large->Slice(0, 10)})->footprint() == Message::kNodeSize + 10);
  CHECK(Holding({large, Filled(""), large->Slice(5, 100)})->footprint() ==
        Message::kNodeSize + 1'000'100);
  CHECK(large->references() == 1);
}

TEST_CASE("a list counts them when messages come and go") {
  const Ref<Buffer> buffer = Filled(std::string(1000, 'x'));
  MessageList list;
  list.PushBack(Holding({buffer}));
  list.PushBack(Holding({buffer}));
  list.PushFront(Holding({}));
  CHECK(list.footprint() == 3 * Message::kNodeSize + 2000);
  CHECK(list.TakeFirst(2).count() == 2);
  CHECK(list.footprint() == Message::kNodeSize + 1000);
  list.PopFront();
  CHECK(list.footprint() == 0);
  CHECK(buffer->references() == 1);
}

TEST_CASE("the last of several threads frees a buffer") {
  Ref<Buffer> buffer = Filled(std::string(100, 'x'));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([shared = buffer] {
      for (std::size_t n = 0; n < 1000; ++n) {
        const Ref<Buffer> slice = shared->Slice(n % 50, 50);
        if (TextOf(*slice) != std::string(50, 'x')) std::abort();
      }
    });
  }
  buffer = {};
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace shoal::core
