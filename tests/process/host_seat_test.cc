// SPDX-License-Identifier: MIT
#include "runtime/process/host_seat.h"

#include <pthread.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

using shoal::core::ActiveHosts;
using shoal::core::Duration;
using shoal::core::HostSeat;
using shoal::core::Status;

namespace {

// A seat whose host waits, as far as others can see.
struct Fixture {
  Fixture() { REQUIRE(seat.Open() == Status::kOk); }
  ~Fixture() { seat.Deactivate(); }
  HostSeat::Woken Sleep(Duration most = Duration::max()) {
    seat.HoldSignals();
    const HostSeat::Woken woken = seat.Sleep(most);
    seat.ReleaseSignals();
    return woken;
  }
  ActiveHosts active;
  HostSeat seat{active};
};

}  // namespace

TEST_CASE("a host counts as active but from its wait to its wake") {
  Fixture host;
  REQUIRE(host.active.Begin().any());
  host.seat.Deactivate();
  REQUIRE(!host.active.Begin().any());
  host.seat.Wake();
  REQUIRE(host.active.Begin().any());
}

TEST_CASE("a wake before the sleep ends it at once, and ends one") {
  Fixture host;
  host.seat.Deactivate();
  host.seat.Wake();
  REQUIRE(host.Sleep() == HostSeat::Woken::kByWake);
  REQUIRE(host.Sleep(std::chrono::milliseconds(1)) == HostSeat::Woken::kElse);
}

TEST_CASE("a host sleeps until another thread wakes it, again and again") {
  Fixture host;
  std::atomic<int> turn{0};
  std::thread waker([&] {
    for (int i = 1; i <= 1000; ++i) {
      while (turn.load() != i) std::this_thread::yield();
      host.seat.Wake();
    }
  });
  for (int i = 1; i <= 1000; ++i) {
    host.seat.Deactivate();
    turn.store(i);
    REQUIRE(host.Sleep() == HostSeat::Woken::kByWake);
  }
  waker.join();
  REQUIRE(host.active.Begin().any());
}

TEST_CASE("a signal that comes before the sleep, or in it, ends it") {
  Fixture host;
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  host.seat.HoldSignals();
  pthread_kill(pthread_self(), SIGUSR1);
  REQUIRE(host.seat.Sleep(Duration::max()) == HostSeat::Woken::kElse);
  host.seat.ReleaseSignals();
  sigaction(SIGUSR1, &before, nullptr);
}
