// SPDX-License-Identifier: MIT
// The rules by which a worker takes, on one thread.
#include "runtime/sched/queues.h"

#include <catch2/catch.hpp>
#include <string_view>

#include "runtime/sched/idle.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

struct Nothing final : Runnable {
  void Run() override {}
};

struct TwoWorkers {
  TwoWorkers() : idle(2, source), queues(idle) {
    REQUIRE(queues.Init(2, 1) == Status::kOk);
    worker().turns_to_inject = Queues::kInjectPeriod;
  }
  ~TwoWorkers() {
    while (queues.TakeLeftover() != nullptr) {
    }
  }
  Worker& worker() { return queues.worker(0); }
  Worker& other() { return queues.worker(1); }
  Runnable* Search() {
    REQUIRE(idle.BeginSearch());
    Runnable* found = queues.Search(worker());
    static_cast<void>(idle.EndSearch());
    return found;
  }

  TestSource source;
  Idle idle;
  Queues queues;
};

TEST_CASE("what was woken last runs next, and what it displaces goes to the tail") {
  TwoWorkers two;
  Nothing a, b, c;
  two.queues.PutTail(two.worker(), a);
  two.queues.PutNext(two.worker(), b);
  two.queues.PutNext(two.worker(), c);
  CHECK(two.queues.TakeLocal(two.worker()) == &c);
  CHECK(two.queues.TakeLocal(two.worker()) == &a);
  CHECK(two.queues.TakeLocal(two.worker()) == &b);
  CHECK(two.queues.TakeLocal(two.worker()) == nullptr);
}

TEST_CASE("the queue gets its turn after 64 from the next slot") {
  TwoWorkers two;
  Nothing queued, woken;
  two.worker().turns_to_inject = 1000;
  two.queues.PutTail(two.worker(), queued);
  int before = 0;
  for (;; ++before) {
    two.queues.PutNext(two.worker(), woken);
    if (two.queues.TakeLocal(two.worker()) == &queued) break;
  }
  CHECK(before == static_cast<int>(Queues::kMaxNextStreak));
  CHECK(two.queues.TakeLocal(two.worker()) == &woken);
}

TEST_CASE("the next slot is not passed over when the queue is empty") {
  TwoWorkers two;
  Nothing woken;
  two.worker().turns_to_inject = 1000;
  for (int i = 0; i < 200; ++i) {
    two.queues.PutNext(two.worker(), woken);
    REQUIRE(two.queues.TakeLocal(two.worker()) == &woken);
  }
}

TEST_CASE("the inject queue comes first in every 61st turn, else last") {
  TwoWorkers two;
  Nothing local, injected;
  two.worker().turns_to_inject = 0;
  two.queues.Inject(injected);
  two.queues.PutTail(two.worker(), local);
  CHECK(two.queues.TakeLocal(two.worker()) == &injected);
  two.queues.Inject(injected);
  for (std::uint32_t i = 1; i < Queues::kInjectPeriod; ++i) {
    REQUIRE(two.queues.TakeLocal(two.worker()) == &local);
    two.queues.PutAgain(two.worker(), local);
  }
  CHECK(two.queues.TakeLocal(two.worker()) == &injected);
  CHECK(two.queues.TakeLocal(two.worker()) == &local);
  two.queues.Inject(injected);
  CHECK(two.queues.TakeLocal(two.worker()) == &injected);
}

TEST_CASE("a searcher takes half of another's queue and keeps the order") {
  TwoWorkers two;
  Nothing things[6];
  for (Nothing& thing : things) two.queues.PutTail(two.other(), thing);
  CHECK(two.Search() == &things[0]);
  CHECK(two.queues.TakeLocal(two.worker()) == &things[1]);
  CHECK(two.queues.TakeLocal(two.worker()) == &things[2]);
  CHECK(two.queues.TakeLocal(two.worker()) == nullptr);
  CHECK(two.worker().steals.value() == 3);
  CHECK(two.queues.TakeLocal(two.other()) == &things[3]);
}

TEST_CASE("a searcher takes a next slot whose worker stays in one dispatch") {
  TwoWorkers two;
  Nothing woken;
  two.other().BeginDispatch();
  two.queues.PutNext(two.other(), woken);
  CHECK_FALSE(two.queues.AnyStands());
  CHECK(two.Search() == &woken);
  CHECK(two.other().next() == nullptr);
  CHECK(two.worker().next_steals.value() == 1);
  CHECK(two.Search() == nullptr);
}

TEST_CASE("everything stands somewhere until it is taken") {
  TwoWorkers two;
  Nothing a, b, c;
  CHECK_FALSE(two.queues.AnyStands());
  two.queues.PutTail(two.worker(), a);
  CHECK(two.queues.AnyStands());
  CHECK(two.queues.TakeLocal(two.worker()) == &a);
  two.queues.Inject(b);
  CHECK(two.queues.AnyStands());
  two.queues.PutNext(two.other(), c);
  two.queues.PutAgain(two.other(), a);
  CHECK(two.queues.TakeLeftover() == &c);
  CHECK(two.queues.TakeLeftover() == &a);
  CHECK(two.queues.TakeLeftover() == &b);
  CHECK(two.queues.TakeLeftover() == nullptr);
}

#ifndef NDEBUG
TEST_CASE("what has stood in the inject queue at a tick comes first, and no more than that") {
  TwoWorkers two;
  Nothing local, again, old[2], fresh;
  two.worker().turns_to_inject = 1000;
  two.queues.PutTail(two.worker(), local);
  for (Nothing& one : old) two.queues.Inject(one);
  two.queues.NoteInject();
  CHECK(two.queues.TakeLocal(two.worker()) == &old[0]);
  two.queues.PutNext(two.worker(), again);
  two.queues.Inject(fresh);
  CHECK(two.queues.TakeLocal(two.worker()) == &old[1]);
  CHECK(two.queues.TakeLocal(two.worker()) == &again);
  CHECK(two.queues.TakeLocal(two.worker()) == &local);
  CHECK(two.queues.TakeLocal(two.worker()) == &fresh);
}

TEST_CASE("what comes from outside in each turn of a loop waits for that turn alone") {
  TwoWorkers two;
  Nothing loop, message;
  two.worker().turns_to_inject = 1000;
  two.queues.PutTail(two.worker(), loop);
  for (int i = 0; i < 5; ++i) {
    two.queues.Inject(message);
    two.queues.NoteInject();
    CHECK(two.queues.TakeLocal(two.worker()) == &message);
    CHECK(two.queues.TakeLocal(two.worker()) == &loop);
    two.queues.PutAgain(two.worker(), loop);
  }
}

TEST_CASE("what comes back through the inject queue before each tick starves nobody") {
  TwoWorkers two;
  Nothing local, busy[2];
  two.worker().turns_to_inject = 1000;
  two.queues.PutTail(two.worker(), local);
  for (Nothing& one : busy) two.queues.Inject(one);
  bool came = false;
  for (int i = 0; i < 4 && !came; ++i) {
    two.queues.NoteInject();
    Runnable* const runnable = two.queues.TakeLocal(two.worker());
    came = runnable == &local;
    if (!came) two.queues.Inject(*runnable);
  }
  CHECK(came);
  while (two.queues.TakeLocal(two.worker()) != nullptr) {
  }
}

TEST_CASE("what a run queue has no memory for goes to the inject queue") {
  TwoWorkers two;
  Nothing a, b;
  TestPoints::SetHook(
      [](const char* point) { return std::string_view(point) == "run_queue.push"; });
  two.queues.PutTail(two.worker(), a);
  two.queues.PutAgain(two.worker(), b);
  TestPoints::SetHook(nullptr);
  CHECK(two.worker().queue.length() == 0);
  CHECK(two.queues.InjectStands());
  CHECK(two.queues.TakeLocal(two.worker()) == &a);
  CHECK(two.queues.TakeLocal(two.worker()) == &b);
}
#endif

}  // namespace
}  // namespace shoal::core
