// SPDX-License-Identifier: MIT
#include "runtime/channel/key_name.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace shoal::core {
namespace {

class Thing final : public RefCounted {
 public:
  explicit Thing(bool* gone = nullptr) : gone_(gone) {}
  ~Thing() override {
    if (gone_ != nullptr) *gone_ = true;
  }

 private:
  bool* gone_;
};

TEST_CASE("names of different kinds are different") {
  Thing thing;
  const std::vector<KeyName> names = {
      KeyName::String("1"),      KeyName::Integer(1),      KeyName::Boolean(true),
      KeyName::String(""),       KeyName::Integer(0),      KeyName::Boolean(false),
      KeyName::Pointer(nullptr), KeyName::Pointer(&thing), KeyName::Handle(&thing),
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < names.size(); ++j) CHECK((names[i] == names[j]) == (i == j));
  }
}

TEST_CASE("equal names have equal hashes") {
  const std::string a = "a key";
  const std::string b = a;
  CHECK(KeyName::String(a) == KeyName::String(b));
  CHECK(KeyName::String(a).Hash() == KeyName::String(b).Hash());
  CHECK(KeyName::Integer(-7).Hash() == KeyName::Integer(-7).Hash());
}

TEST_CASE("a float is a name of its own, and is read back") {
  const KeyName half = KeyName::Float(0.5);
  CHECK(half == KeyName::Float(0.5));
  CHECK_FALSE(half == KeyName::Float(-0.5));
  CHECK_FALSE(half == KeyName::Integer(static_cast<std::int64_t>(half.value)));
  CHECK(half.number() == 0.5);
}

TEST_CASE("the hashes of similar names differ, in their low bits and in their high ones") {
  std::set<std::size_t> low;
  std::set<std::size_t> high;
  for (int i = 0; i < 256; ++i) {
    const std::size_t hash = KeyName::Integer(i).Hash();
    low.insert(hash & 1023);
    high.insert(hash >> 54);
    const std::size_t text = KeyName::String("key" + std::to_string(i)).Hash();
    low.insert(1024 + (text & 1023));
    high.insert(1024 + (text >> 54));
  }
  // 512 random draws of 1024 leave about 450 different ones.
  CHECK(low.size() > 400);
  CHECK(high.size() > 400);
}

TEST_CASE("texts of all lengths have hashes of their own") {
  std::set<std::size_t> hashes;
  std::string text;
  for (int length = 0; length < 100; ++length, text += '\0') {
    hashes.insert(KeyName::String(text).Hash());
  }
  CHECK(hashes.size() == 100);
}

TEST_CASE("a stored name owns its text and keeps its handle") {
  bool gone = false;
  {
    Ref<Thing> thing = Ref<Thing>::Adopt(new Thing(&gone));
    std::string text = "some text that is longer than a small string";
    const StoredKeyName by_text(KeyName::String(text));
    const StoredKeyName by_handle(KeyName::Handle(thing.get()));
    const KeyName view = by_handle.view();
    const std::string copy = text;
    text.assign(text.size(), '?');
    CHECK(by_text.view() == KeyName::String(copy));
    CHECK(view == KeyName::Handle(thing.get()));
    thing = {};
    CHECK_FALSE(gone);
  }
  CHECK(gone);
}

}  // namespace
}  // namespace shoal::core
