// SPDX-License-Identifier: MIT
#include "runtime/base/intrusive_list.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace shoal::core;

namespace {

struct RedTag {};
struct BlueTag {};
struct Item : ListLink<RedTag>, ListLink<BlueTag> {
  explicit Item(int number) : n(number) {}
  int n;
};

template <class Tag>
std::vector<int> Drain(List<Item, Tag>& list) {
  std::vector<int> numbers;
  while (Item* item = list.PopFront()) numbers.push_back(item->n);
  return numbers;
}

}  // namespace

TEST_CASE("a list gives its elements back in order") {
  Item a(1);
  Item b(2);
  Item c(3);
  List<Item, RedTag> list;
  list.PushBack(b);
  list.PushBack(c);
  list.PushFront(a);
  REQUIRE(&list.front() == &a);
  REQUIRE(list.Next(a) == &b);
  REQUIRE(list.Next(c) == nullptr);
  REQUIRE(Drain(list) == std::vector<int>{1, 2, 3});
  REQUIRE(list.empty());
}

TEST_CASE("an element leaves its list without knowing it") {
  Item a(1);
  Item b(2);
  Item c(3);
  List<Item, RedTag> list;
  for (Item* item : {&a, &b, &c}) list.PushBack(*item);
  static_cast<ListLink<RedTag>&>(b).Unlink();
  REQUIRE_FALSE(static_cast<ListLink<RedTag>&>(b).linked());
  REQUIRE(Drain(list) == std::vector<int>{1, 3});
}

TEST_CASE("an element stands in one list for each tag") {
  Item a(1);
  List<Item, RedTag> red;
  List<Item, BlueTag> blue;
  red.PushBack(a);
  blue.PushBack(a);
  static_cast<ListLink<RedTag>&>(a).Unlink();
  REQUIRE(red.empty());
  REQUIRE(Drain(blue) == std::vector<int>{1});
}
