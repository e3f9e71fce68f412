// SPDX-License-Identifier: MIT
#include "runtime/process/active_hosts.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using shoal::core::ActiveHosts;

TEST_CASE("hosts are counted, and each that comes is noticed, even if it has gone") {
  ActiveHosts hosts;
  REQUIRE(!hosts.Begin().any());
  const ActiveHosts::Look before = hosts.Begin();
  REQUIRE(!hosts.HasChangedSince(before));
  hosts.Add();
  REQUIRE(hosts.Begin().any());
  hosts.Remove();
  REQUIRE(!hosts.Begin().any());
  REQUIRE(hosts.HasChangedSince(before));
}

TEST_CASE("a host that goes from work to what it has armed, and back, is never missed") {
  constexpr int kTurns = 20'000;
  ActiveHosts hosts;
  std::atomic<int> armed{0};
  std::atomic<bool> ends{false};
  hosts.Add();
  std::thread host([&] {
    for (int i = 0; i < kTurns; ++i) {
      armed.fetch_add(1);
      hosts.Remove();
      hosts.Add();
      armed.fetch_sub(1);
    }
    ends.store(true);
  });
  int missed = 0;
  while (!ends.load()) {
    const ActiveHosts::Look look = hosts.Begin();
    if (!look.any() && armed.load() == 0 && !hosts.HasChangedSince(look)) ++missed;
  }
  host.join();
  REQUIRE(missed == 0);
}
