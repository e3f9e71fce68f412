// SPDX-License-Identifier: MIT
#include "runtime/channel/key_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace shoal::core {
namespace {

constexpr std::uint64_t kLimit = 5;

// A key that is closed is used.
Key* AddKey(KeyTable& table, const KeyName& name, std::size_t hash,
            const RefCounted* owner = nullptr) {
  Key* key = table.Find(name, hash);
  if (key == nullptr) key = table.Add(name, hash, kLimit, owner);
  key->closed = true;
  return key;
}
Key* AddKey(KeyTable& table, const KeyName& name, const RefCounted* owner = nullptr) {
  return AddKey(table, name, name.Hash(), owner);
}
void RemoveKey(KeyTable& table, Key& key, const RefCounted* owner = nullptr) {
  key.closed = false;
  if (Key* dead = table.Retire(key, kLimit, owner)) KeyTable::Destroy(dead);
}
// nullptr if it lingers.
Key* FindUsed(KeyTable& table, const KeyName& name, std::size_t hash) {
  Key* key = table.Find(name, hash);
  return key == nullptr || key->unused(kLimit) ? nullptr : key;
}
std::size_t CountOf(const KeyTable& table) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.slots(); ++i) count += table.at(i) != nullptr ? 1 : 0;
  return count;
}

template <class Predicate>
void RemoveKeysIf(KeyTable& table, Predicate useless, const RefCounted* owner = nullptr) {
  Key* dead = table.RemoveIf(useless, owner);
  while (dead != nullptr) KeyTable::Destroy(std::exchange(dead, dead->next));
}
void RemoveAll(KeyTable& table, const RefCounted* owner = nullptr) {
  RemoveKeysIf(
      table, [](const Key&) { return true; }, owner);
}

class Thing final : public RefCounted {
 public:
  explicit Thing(bool* gone) : gone_(gone) {}
  ~Thing() override { *gone_ = true; }

 private:
  bool* gone_;
};

TEST_CASE("a key is found by its name until it is removed") {
  KeyTable table;
  const KeyName name = KeyName::String("a");
  CHECK(table.Find(name, name.Hash()) == nullptr);
  Key* key = AddKey(table, name);
  CHECK(table.Find(name, name.Hash()) == key);
  CHECK(key->limit == kLimit);
  RemoveAll(table);
  CHECK(table.Find(name, name.Hash()) == nullptr);
}

TEST_CASE("a key that is no longer used lingers until another takes its place") {
  KeyTable table;
  const KeyName a = KeyName::String("a");
  const KeyName b = KeyName::String("b");
  Key* key = AddKey(table, a);
  RemoveKey(table, *key);
  CHECK(table.Find(a, a.Hash()) == key);
  CHECK(key->unused(kLimit));
  SECTION("if it is not used again") {
    CHECK(AddKey(table, b) == key);
    CHECK(table.Find(a, a.Hash()) == nullptr);
    CHECK(table.Find(b, b.Hash()) == key);
  }
  SECTION("but not if it is") {
    CHECK(AddKey(table, a) == key);
    CHECK(AddKey(table, b) != key);
    CHECK(table.Find(a, a.Hash()) == key);
    RemoveKey(table, *key);
    CHECK(table.Find(a, a.Hash()) == key);
  }
  RemoveAll(table);
}

TEST_CASE("few keys linger") {
  KeyTable table;
  SECTION("of many that were used at once") {
    for (int i = 0; i < 100; ++i) AddKey(table, KeyName::Integer(i));
    for (int i = 0; i < 100; ++i) {
      const KeyName name = KeyName::Integer(i);
      RemoveKey(table, *table.Find(name, name.Hash()));
    }
  }
  SECTION("of many that were used one after the other") {
    for (int i = 0; i < 100; ++i) RemoveKey(table, *AddKey(table, KeyName::Integer(i)));
    CHECK(CountOf(table) == 1);
  }
  SECTION("of those that come back and go in any order") {
    std::mt19937 random(7);
    for (int i = 0; i < 10'000; ++i) {
      const KeyName name = KeyName::Integer(static_cast<int>(random() % 100));
      Key* key = FindUsed(table, name, name.Hash());
      key == nullptr ? static_cast<void>(AddKey(table, name)) : RemoveKey(table, *key);
    }
    for (int i = 0; i < 100; ++i) {
      const KeyName name = KeyName::Integer(i);
      if (Key* key = FindUsed(table, name, name.Hash())) RemoveKey(table, *key);
    }
  }
  CHECK(CountOf(table) <= 6);
  RemoveAll(table);
  CHECK(CountOf(table) == 0);
}

TEST_CASE("a key with a long name does not linger") {
  KeyTable table;
  const std::string text(25, 'x');
  const KeyName name = KeyName::String(text);
  RemoveKey(table, *AddKey(table, name));
  CHECK(table.Find(name, name.Hash()) == nullptr);
}

TEST_CASE("a key has a copy of its name") {
  KeyTable table;
  for (std::size_t length : {0, 5, 24, 25, 1000}) {
    std::string text(length, 'x');
    Key* key = AddKey(table, KeyName::String(text));
    const std::string copy = text;
    text.assign(length, 'y');
    CHECK(key->name == KeyName::String(copy));
    CHECK(table.Find(KeyName::String(copy), KeyName::String(copy).Hash()) == key);
    RemoveKey(table, *key);
  }
  RemoveAll(table);
}

TEST_CASE("a key keeps its handle until it is removed, but not that of its owner") {
  bool gone = false;
  KeyTable table;
  Ref<Thing> thing = Ref<Thing>::Adopt(new Thing(&gone));
  const KeyName name = KeyName::Handle(thing.get());
  SECTION("of another") {
    Key* key = AddKey(table, name);
    thing = {};
    CHECK_FALSE(gone);
    RemoveKey(table, *key);
    CHECK(gone);
  }
  SECTION("of the owner") {
    Key* key = AddKey(table, name, thing.get());
    RemoveKey(table, *key, thing.get());
    CHECK_FALSE(gone);
    AddKey(table, name, thing.get());
    RemoveAll(table, thing.get());
    CHECK_FALSE(gone);
  }
}

TEST_CASE("keys with equal hashes live together") {
  KeyTable table;
  for (int i = 0; i < 100; ++i) AddKey(table, KeyName::Integer(i), 7);
  for (int i = 0; i < 100; i += 2) RemoveKey(table, *table.Find(KeyName::Integer(i), 7));
  for (int i = 0; i < 100; ++i) {
    CHECK((FindUsed(table, KeyName::Integer(i), 7) != nullptr) == (i % 2 == 1));
  }
  RemoveAll(table);
  CHECK(table.Find(KeyName::Integer(1), 7) == nullptr);
}

// Some numbers share a hash, so that clusters are long and wrap around.
std::size_t HashOf(int number) { return KeyName::Integer(number).Hash() & ~std::size_t{3}; }

TEST_CASE("a table behaves as a map does, whatever is added and removed") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  KeyTable table;
  std::map<int, Key*> model;
  for (int step = 0; step < 100'000; ++step) {
    // The table grows and shrinks: most steps add in some thousands, and remove in others.
    const bool adds = random() % 10 < (step / 5000 % 2 == 0 ? 7 : 2);
    const int number = static_cast<int>(random() % 3000);
    const std::size_t hash = HashOf(number);
    const auto entry = model.find(number);
    Key* found = FindUsed(table, KeyName::Integer(number), hash);
    if (found != (entry == model.end() ? nullptr : entry->second)) FAIL("differs at " << step);
    if (adds && found == nullptr) {
      model[number] = AddKey(table, KeyName::Integer(number), hash);
    } else if (!adds && found != nullptr) {
      RemoveKey(table, *found);
      model.erase(number);
    }
  }
  CHECK(CountOf(table) >= model.size());
  CHECK(CountOf(table) <= model.size() + 6);
  // Those of odd numbers go.
  RemoveKeysIf(table, [](const Key& key) { return key.name.value % 2 == 1; });
  for (const auto& [number, key] : model) {
    const KeyName name = KeyName::Integer(number);
    CHECK((FindUsed(table, name, HashOf(number)) != nullptr) == (number % 2 == 0));
  }
  RemoveAll(table);
}

TEST_CASE("a table from which keys are removed becomes small again") {
  KeyTable table;
  for (int i = 0; i < 10'000; ++i) AddKey(table, KeyName::Integer(i));
  CHECK(table.slots() == 16'384);
  for (int i = 0; i < 10'000; ++i) {
    const KeyName name = KeyName::Integer(i);
    RemoveKey(table, *table.Find(name, name.Hash()));
  }
  CHECK(table.slots() <= 64);
  RemoveAll(table);
}

}  // namespace
}  // namespace shoal::core
