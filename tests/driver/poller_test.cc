// SPDX-License-Identifier: MIT
#include "runtime/driver/poller.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/base/test_point.h"
#include "tests/driver/polled.h"

namespace shoal::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TimePoint In(Duration time) { return std::chrono::steady_clock::now() + time; }

// A thread that sleeps in the poller, as idle workers do in turn, until it is to end.
class Sleeper {
 public:
  explicit Sleeper(Poller& poller, bool polls = true)
      : thread_([this, &poller, polls] {
          while (!stop_.load()) {
            poller.Sleep(kNever);
            if (polls) poller.Poll();
            sleeps.fetch_add(1);
          }
        }),
        poller_(poller) {}
  ~Sleeper() {
    stop_.store(true);
    poller_.Interrupt();
    thread_.join();
  }
  std::atomic<int> sleeps{0};

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
  Poller& poller_;
};

TEST_CASE("a sleep ends at its deadline, with and without descriptors") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  TimePoint deadline = In(milliseconds(3));
  poller.Sleep(deadline);
  CHECK(clock.Now() >= deadline);
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  deadline = In(milliseconds(3));
  poller.Sleep(deadline);
  CHECK(clock.Now() >= deadline);
  // One that has passed does not wait.
  poller.Sleep(TimePoint());
  CHECK(poller.Poll() == 0);
}

TEST_CASE("an interrupt that comes first ends the next sleep, and only that") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  const auto ends_one_sleep = [&] {
    poller.Interrupt();
    poller.Interrupt();
    poller.Sleep(In(hours(1)));
    const TimePoint deadline = In(milliseconds(3));
    poller.Sleep(deadline);
    return clock.Now() >= deadline;
  };
  CHECK(ends_one_sleep());
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  CHECK(ends_one_sleep());
}

TEST_CASE("what ends a sleep is delivered by the look after it") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(pair.Send("x"));
  poller.Sleep(In(hours(1)));
  CHECK(wait.completed == 0);
  // It counts until it has been told.
  CHECK(poller.Armed());
  CHECK(poller.Poll() == 1);
  CHECK(wait.completed == 1);
  CHECK_FALSE(poller.Armed());
}

TEST_CASE("who sleeps when the first descriptor is registered is told of its events") {
  const SteadyClock clock;
  for (int i = 0; i < Times(2000); ++i) {
    Poller poller(clock, 1);
    Sleeper sleeper(poller);
    const SocketPair pair(poller);
    if (i % 2 == 0) sched_yield();
    OneWait wait;
    REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
    REQUIRE(pair.Send("x"));
    REQUIRE(Eventually([&] { return wait.completed.load() == 1; }));
  }
}

#ifndef NDEBUG
// Something is registered, and becomes ready, just when somebody goes to sleep.
struct Register {
  static bool AtPoint(const char* point) {
    if (pair == nullptr || std::string(point) != at) return false;
    status = wait->Await(*std::exchange(pair, nullptr)->near, Direction::kRead);
    return false;
  }
  static inline std::string at;
  static inline const SocketPair* pair = nullptr;
  static inline OneWait* wait = nullptr;
  static inline Status status = Status::kEmpty;
};

TEST_CASE("nobody falls asleep on the futex while something is registered") {
  for (const char* point : {"poller.place_chosen", "poller.place_said"}) {
    INFO(point);
    const SteadyClock clock;
    Poller poller(clock, 1);
    const SocketPair pair(poller);
    OneWait wait;
    REQUIRE(pair.Send("x"));
    Register::at = point;
    Register::pair = &pair;
    Register::wait = &wait;
    TestPoints::SetHook(&Register::AtPoint);
    const TimePoint deadline = In(std::chrono::seconds(20));
    poller.Sleep(deadline);
    TestPoints::SetHook(nullptr);
    CHECK(Register::status == Status::kPending);
    CHECK(clock.Now() < deadline);
    CHECK(poller.Poll() == 1);
  }
}

TEST_CASE("an interrupt of a sleep in epoll ends that, and not the next one") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  static Poller* polled = nullptr;
  polled = &poller;
  TestPoints::SetHook([](const char* point) {
    if (polled == nullptr || std::string(point) != "poller.place_said") return false;
    std::exchange(polled, nullptr)->Interrupt();
    return false;
  });
  TimePoint deadline = In(std::chrono::seconds(20));
  poller.Sleep(deadline);
  TestPoints::SetHook(nullptr);
  CHECK(clock.Now() < deadline);
  CHECK(poller.Poll() == 0);
  deadline = In(milliseconds(3));
  poller.Sleep(deadline);
  CHECK(clock.Now() >= deadline);
}

// A look from elsewhere comes between the interrupt and the sleeper.
TEST_CASE("an interrupt that another look comes upon is passed on") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  static Poller* polled = nullptr;
  polled = &poller;
  TestPoints::SetHook([](const char* point) {
    if (polled == nullptr || std::string(point) != "poller.place_said") return false;
    // It looks because it has seen nobody asleep.
    Poller* const here = std::exchange(polled, nullptr);
    here->Interrupt();
    here->Poll();
    return false;
  });
  const TimePoint deadline = In(std::chrono::seconds(20));
  poller.Sleep(deadline);
  TestPoints::SetHook(nullptr);
  CHECK(clock.Now() < deadline);
}
#endif

class Looks final : public WaitOwner {
 public:
  explicit Looks(const Poller& poller) : poller_(poller) {}
  void OnComplete(Waiter&) override { was_armed = poller_.Armed(); }
  bool was_armed = false;

 private:
  const Poller& poller_;
};

TEST_CASE("a wait counts until its owner has been told") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  const SocketPair pair(poller);
  Looks owner(poller);
  Waiter waiter(owner);
  WaitNode node;
  node.waiter = &waiter;
  for (const bool closes : {false, true}) {
    waiter.Open(WaitReason::kReadable);
    REQUIRE(pair.near->Await(node, Direction::kRead) == Status::kPending);
    owner.was_armed = false;
    if (closes) {
      pair.near->Close();
    } else {
      REQUIRE(pair.Send("x"));
      CHECK(poller.Poll() == 1);
    }
    CHECK(owner.was_armed);
    CHECK_FALSE(poller.Armed());
  }
}

TEST_CASE("no interrupt is lost, whoever else looks") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  const SocketPair pair(poller);
  const SocketPair idle(poller);
  OneWait wait, never;
  REQUIRE(never.Await(*idle.near, Direction::kRead) == Status::kPending);
  std::atomic<bool> stop{false};
  std::thread looks([&] {
    while (!stop.load()) poller.Poll();
  });
  {
    Sleeper sleeper(poller);
    bool all = true;
    for (int i = 0; all && i < Times(20'000); ++i) {
      const int before = sleeper.sleeps.load();
      poller.Interrupt();
      all = Eventually([&] { return sleeper.sleeps.load() > before; });
    }
    CHECK(all);
  }
  stop.store(true);
  looks.join();
}

TEST_CASE("a busy worker looks after so many turns, sooner if they are long") {
  ManualClock clock;
  Poller poller(clock, 2);
  const SocketPair pair(poller);
  OneWait wait;
  const auto turns_to_see = [&](Duration turn) {
    REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
    REQUIRE(pair.Send("x"));
    int turns = 0;
    while (wait.completed == 0 && turns < 1000) {
      clock.Advance(turn);
      poller.Turn(1);
      ++turns;
    }
    CHECK(pair.Receive() == "x");
    return turns;
  };
  CHECK(turns_to_see(Duration(100)) <= 61);
  static_cast<void>(turns_to_see(milliseconds(1)));
  CHECK(turns_to_see(milliseconds(1)) <= 2);
  static_cast<void>(turns_to_see(Duration(100)));
  static_cast<void>(turns_to_see(Duration(100)));
  CHECK(turns_to_see(Duration(100)) > 30);
}

// Two ends that send a byte to and fro; `rounds` times.
struct Rally {
  explicit Rally(Poller& poller) {
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    for (int i = 0; i < 2; ++i) ends[i] = Descriptor::Adopt(poller, fds[i]);
  }
  // One side, on a thread of its own. False if a wake-up is lost.
  bool Play(int side, int rounds) {
    Descriptor& mine = *ends[side];
    OneWait wait;
    if (side == 0 && ::send(mine.fd(), "x", 1, MSG_NOSIGNAL) != 1) return false;
    for (int i = 0; i < rounds; ++i) {
      char byte;
      while (::recv(mine.fd(), &byte, 1, 0) != 1) {
        const Status status = wait.Await(mine, Direction::kRead);
        if (status == Status::kOk) continue;
        if (status != Status::kPending) return false;
        if (!Eventually([&] { return wait.completed.load() == 1; })) return false;
        if (wait.outcome() != Status::kOk) return false;
        wait.node.place = nullptr;
      }
      // At the very end, the other side does not read any more.
      if (::send(mine.fd(), &byte, 1, MSG_NOSIGNAL) != 1) return false;
    }
    return true;
  }
  Ref<Descriptor> ends[2];
};

TEST_CASE("no wake-up is lost between many who wait, one who sleeps and one who looks") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  constexpr int kRallies = 3;
  std::vector<std::unique_ptr<Rally>> rallies;
  for (int i = 0; i < kRallies; ++i) rallies.push_back(std::make_unique<Rally>(poller));
  std::atomic<bool> stop{false};
  std::atomic<int> complete{0};
  std::thread looks([&] {
    while (!stop.load()) {
      poller.Poll();
      sched_yield();
    }
  });
  {
    Sleeper sleeper(poller);
    std::vector<std::thread> players;
    for (auto& rally : rallies) {
      for (int side = 0; side < 2; ++side) {
        players.emplace_back([&, side] {
          if (rally->Play(side, Times(3000))) complete.fetch_add(1);
        });
      }
    }
    for (std::thread& player : players) player.join();
  }
  stop.store(true);
  looks.join();
  CHECK(complete.load() == 2 * kRallies);
  CHECK_FALSE(poller.Armed());
}

TEST_CASE("a readiness, a deadline and a close race for a wait, and one of them gets it") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  Random random(7);
  int outcomes[3] = {0, 0, 0};
  Sleeper sleeper(poller);
  for (int i = 0; i < Times(6000); ++i) {
    const SocketPair pair(poller);
    OneWait wait;
    REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
    std::thread timer([&] {
      if (wait.waiter.OnDue()) wait.waiter.Fire();
    });
    const bool sends = random.Next() % 3 != 0;
    if (sends) static_cast<void>(pair.Send("x"));
    if (random.Next() % 2 == 0) pair.near->Close();
    timer.join();
    REQUIRE(Eventually([&] { return wait.completed.load() == 1; }));
    wait.Withdraw();
    const Status outcome = wait.outcome();
    ++outcomes[outcome == Status::kOk ? 0 : outcome == Status::kTimeout ? 1 : 2];
    REQUIRE((outcome == Status::kOk || outcome == Status::kTimeout || outcome == Status::kClosed));
  }
  // Each of them won now and then.
  CHECK(outcomes[0] + outcomes[2] > 0);
  CHECK(outcomes[1] > 0);
  CHECK(Eventually([&] { return !poller.Armed(); }));
}

TEST_CASE("files that come and go, with their numbers used again, complete only their own waits") {
  const SteadyClock clock;
  Poller poller(clock, 1);
  Sleeper sleeper(poller);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<std::uint64_t>(t) + 1);
      for (int i = 0; i < Times(6000); ++i) {
        int fds[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) break;
        const auto near = Descriptor::Adopt(poller, fds[0]);
        OneWait wait;
        const bool sends = random.Next() % 2 == 0;
        const Status status = wait.Await(*near, Direction::kRead);
        if (status == Status::kPending && sends) {
          if (::send(fds[1], "x", 1, MSG_NOSIGNAL) != 1) wrong.fetch_add(1);
          // Sometimes it is closed with the event on its way.
          if (random.Next() % 2 == 0) {
            if (!Eventually([&] { return wait.completed.load() == 1; })) wrong.fetch_add(1);
            if (wait.outcome() != Status::kOk) wrong.fetch_add(1);
          }
        }
        // Nobody has sent anything: an event would be that of another file.
        if (status != Status::kPending || (!sends && wait.completed.load() != 0))
          wrong.fetch_add(1);
        near->Close();
        ::close(fds[1]);
        if (!Eventually([&] { return wait.completed.load() == 1; })) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  CHECK(Eventually([&] { return !poller.Armed(); }));
}

}  // namespace
}  // namespace shoal::core
