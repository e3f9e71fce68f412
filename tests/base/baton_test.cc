// SPDX-License-Identifier: MIT
#include "runtime/base/baton.h"

#include <catch2/catch.hpp>
#include <thread>

using shoal::core::Baton;

TEST_CASE("the sides of a baton go on in turn, and see what the other did") {
  constexpr int kTurns = 2000;
  Baton baton;
  int count = 0;  // not atomic: the baton orders the two
  bool in_turn = true;
  std::thread second([&] {
    for (int i = 0; i < kTurns; ++i) {
      baton.Await(Baton::Side::kSecond);
      if (count++ != 2 * i + 1) in_turn = false;
      baton.Pass(Baton::Side::kFirst);
    }
  });
  for (int i = 0; i < kTurns; ++i) {
    baton.Await(Baton::Side::kFirst);
    if (count++ != 2 * i) in_turn = false;
    baton.Pass(Baton::Side::kSecond);
  }
  second.join();
  REQUIRE(in_turn);
  REQUIRE(count == 2 * kTurns);
}

TEST_CASE("when a baton has been dropped, nobody waits for it") {
  Baton baton;
  std::thread second([&] { baton.Await(Baton::Side::kSecond); });
  baton.Drop();
  second.join();
  baton.Pass(Baton::Side::kSecond);
  baton.Await(Baton::Side::kFirst);
}
