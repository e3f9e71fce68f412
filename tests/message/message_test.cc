// SPDX-License-Identifier: MIT
#include "runtime/message/message.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace shoal::core {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

MessagePtr Text(std::string_view text) { return Message::New(Bytes(text), {}); }

std::string TextOf(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes().data()), message.bytes().size()};
}

std::string TextsOf(const MessageList& list) {
  std::string texts;
  for (const Message* m = list.front(); m != nullptr; m = MessageList::Next(*m))
    texts += TextOf(*m);
  return texts;
}

MessageList ListOf(std::string_view letters) {
  MessageList list;
  for (char letter : letters) list.PushBack(Text({&letter, 1}));
  return list;
}

class Counted final : public RefCounted {
 public:
  explicit Counted(int* alive) : alive_(alive) { ++*alive_; }
  ~Counted() override { --*alive_; }

 private:
  int* alive_;
};

TEST_CASE("a message keeps its bytes, of any length") {
  for (std::size_t size : {0, 1, 7, 8, 104, 111, 112, 113, 4096, 1'000'000}) {
    const std::string text(size, 'x');
    const MessagePtr message = Text(text);
    REQUIRE(message != nullptr);
    CHECK(TextOf(*message) == text);
    CHECK(message->references().empty());
  }
}

TEST_CASE("a message of up to 112 bytes fits a node of 128") {
  CHECK(Text("")->footprint() == 128);
  CHECK(Text(std::string(112, 'x'))->footprint() == 128);
  CHECK(Text(std::string(113, 'x'))->footprint() == 16 + 120);
  CHECK(Text(std::string(1000, 'x'))->footprint() == 1016);
}

TEST_CASE("a message holds its references until it is freed") {
  int alive = 0;
  Ref<Counted> a = Ref<Counted>::Adopt(new Counted(&alive));
  Ref<Counted> b = Ref<Counted>::Adopt(new Counted(&alive));
  const std::vector<RefCounted*> references = {a.get(), b.get(), a.get()};
  for (std::size_t size : {0, 3, 88, 89, 500}) {
    MessagePtr message = Message::New(Bytes(std::string(size, 'x')), references);
    CHECK(std::vector<RefCounted*>(message->references().begin(), message->references().end()) ==
          references);
  }
  MessagePtr message = Message::New(Bytes("abc"), references);
  a = {};
  b = {};
  CHECK(alive == 2);
  CHECK(TextOf(*message) == "abc");
  message.reset();
  CHECK(alive == 0);
}

TEST_CASE("self references that were released are not counted until they are restored") {
  int alive = 0;
  Ref<Counted> self = Ref<Counted>::Adopt(new Counted(&alive));
  Ref<Counted> other = Ref<Counted>::Adopt(new Counted(&alive));
  const std::vector<RefCounted*> references = {self.get(), other.get(), self.get()};
  MessagePtr message = Message::New(Bytes("abc"), references);
  message->ReleaseSelfReferences(self.get());

  SECTION("then they are counted as before") {
    message->RestoreSelfReferences(self.get());
    self = {};
    CHECK(alive == 2);
    message.reset();
    CHECK(alive == 1);
  }
  SECTION("or they are forgotten, and the message is freed without them") {
    message->ForgetSelfReferences(self.get());
    CHECK(message->references()[0] == nullptr);
    CHECK(message->references()[1] == other.get());
    message.reset();
    CHECK(alive == 2);
    self = {};
    CHECK(alive == 1);
  }
}

TEST_CASE("a list gives its messages in order") {
  MessageList list = ListOf("abc");
  CHECK(list.count() == 3);
  CHECK(list.footprint() == 3 * 128);
  CHECK(TextsOf(list) == "abc");
  list.PushFront(Text("z"));
  CHECK(TextsOf(list) == "zabc");
  CHECK(TextOf(*list.PopFront()) == "z");
  CHECK(TextOf(*list.PopFront()) == "a");
  CHECK(TextOf(*list.PopFront()) == "b");
  CHECK(TextOf(*list.PopFront()) == "c");
  CHECK(list.PopFront() == nullptr);
  CHECK(list.empty());
  CHECK(list.count() == 0);
  CHECK(list.footprint() == 0);
  list.PushFront(Text("y"));
  list.PushBack(Text("z"));
  CHECK(TextsOf(list) == "yz");
}

TEST_CASE("lists are appended") {
  MessageList list = ListOf("ab");
  MessageList more = ListOf("cd");
  list.Append(std::move(more));
  CHECK(TextsOf(list) == "abcd");
  CHECK(list.count() == 4);
  // NOLINTNEXTLINE(bugprone-use-after-move): what was moved from is empty.
  CHECK(more.empty());
  CHECK(more.footprint() == 0);
  list.Append(MessageList());
  CHECK(list.count() == 4);
  MessageList empty;
  empty.Append(std::move(list));
  empty.PushBack(Text("e"));
  CHECK(TextsOf(empty) == "abcde");
  CHECK(empty.footprint() == 5 * 128);
}

TEST_CASE("the first messages of a list are taken") {
  MessageList list = ListOf("abcd");
  CHECK(list.TakeFirst(0).empty());
  MessageList first = list.TakeFirst(3);
  CHECK(TextsOf(first) == "abc");
  CHECK(first.count() == 3);
  CHECK(first.footprint() == 3 * 128);
  CHECK(TextsOf(list) == "d");
  CHECK(list.footprint() == 128);
  first.PushBack(Text("e"));
  CHECK(TextsOf(first) == "abce");
  CHECK(TextsOf(list.TakeFirst(7)) == "d");
  CHECK(list.empty());
  CHECK(list.TakeFirst(1).empty());
}

TEST_CASE("the first messages of a list are appended to another") {
  MessageList list = ListOf("bcde");
  MessageList first = ListOf("a");
  first.AppendFirst(list, 2);
  CHECK(TextsOf(first) == "abc");
  CHECK(first.footprint() == 3 * 128);
  CHECK(TextsOf(list) == "de");
  first.AppendFirst(list, 7);
  CHECK(TextsOf(first) == "abcde");
  CHECK(list.empty());
  CHECK(list.count() == 0);
}

TEST_CASE("the maker of a draft writes its bytes") {
  MessagePtr message = Message::NewDraft();
  std::memcpy(message->draft(), "abc", 3);
  message->Finish(3);
  CHECK(TextOf(*message) == "abc");
  CHECK(message->references().empty());
  CHECK(message->footprint() == 128);
}

TEST_CASE("messages are freed by another thread than the one that made them") {
  // More than a thread keeps.
  MessageList list = ListOf(std::string(1000, 'x'));
  std::thread([&list] {
    list.Clear();
    // Of the nodes that are kept.
    list = ListOf(std::string(10, 'y'));
  }).join();
  CHECK(TextsOf(list) == std::string(10, 'y'));
}

TEST_CASE("a list that is moved from is empty, and assigned to loses what it had") {
  MessageList list = ListOf("ab");
  MessageList moved(std::move(list));
  // NOLINTNEXTLINE(bugprone-use-after-move): what was moved from is empty.
  CHECK(list.empty());
  list = ListOf("xyz");
  list = std::move(moved);
  CHECK(TextsOf(list) == "ab");
  CHECK(list.count() == 2);
  // NOLINTNEXTLINE(bugprone-use-after-move): what was moved from is empty.
  CHECK(moved.count() == 0);
}

}  // namespace
}  // namespace shoal::core
