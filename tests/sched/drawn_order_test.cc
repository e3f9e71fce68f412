// SPDX-License-Identifier: MIT
// The scheduler as the simulator uses it.
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <set>
#include <vector>

#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

// What happened, in order. Not atomic: that one thread at a time writes is what is tested.
struct Trace {
  std::vector<int> steps;
  std::atomic<int> active{0};
  std::atomic<int> overlaps{0};

  void Enter() {
    if (active.fetch_add(1) != 0) overlaps.fetch_add(1);
  }
  void Step(int number) { steps.push_back(number); }
  void Exit() { active.fetch_sub(1); }
};

// Blocks some times in the middle of its first Run, as a process does in a frame that cannot yield.
class Walker final : public Runnable {
 public:
  Walker(Scheduler& scheduler, Trace& trace, int number)
      : scheduler_(scheduler), trace_(trace), number_(number) {}

  void Run() override {
    trace_.Enter();
    if (ticket_ != nullptr) {
      SeatTicket& ticket = *ticket_;
      trace_.Step(-number_);
      trace_.Exit();
      scheduler_.HandSeat(ticket);
      return;
    }
    for (int i = 0; i < 5; ++i) {
      trace_.Step(number_);
      if (scheduler_.LeaveSeat() != Status::kOk) break;
      SpinFor(std::chrono::microseconds(number_ * 5));
      trace_.Step(number_ * 10);
      SeatTicket ticket;
      ticket_ = &ticket;
      scheduler_.ReadyTail(*this);
      trace_.Exit();
      if (scheduler_.AwaitSeat(ticket) != Status::kOk) return;
      trace_.Enter();
      ticket_ = nullptr;
    }
    trace_.Step(number_ * 100);
    trace_.Exit();
    done.fetch_add(1);
  }

  std::atomic<int> done{0};

 private:
  Scheduler& scheduler_;
  Trace& trace_;
  const int number_;
  SeatTicket* ticket_ = nullptr;
};

std::vector<int> RunWith(std::uint64_t seed) {
  TestSource source;
  Trace trace;
  Scheduler scheduler(
      {.workers = 1, .idle_source = source, .seed = seed, .order = Scheduler::Order::kDrawn});
  std::deque<Walker> walkers;
  for (int i = 1; i <= 6; ++i) walkers.emplace_back(scheduler, trace, i);
  Job starter([&] {
    for (Walker& walker : walkers) scheduler.ReadyTail(walker);
  });
  REQUIRE(scheduler.Start() == Status::kOk);
  scheduler.Ready(starter);
  for (Walker& walker : walkers) CHECK(Eventually([&] { return walker.done.load() == 1; }));
  CHECK(scheduler.Stop());
  CHECK(scheduler.counters().ticks == 0);
  CHECK(trace.overlaps.load() == 0);
  return trace.steps;
}

TEST_CASE("drawn: one thread at a time does something, and the seed alone decides which") {
  const Shaken shaken(1);
  std::set<std::vector<int>> traces;
  const int seeds = Times(200);
  for (int seed = 0; seed < seeds; ++seed) {
    const std::vector<int> trace = RunWith(static_cast<std::uint64_t>(seed));
    REQUIRE(trace == RunWith(static_cast<std::uint64_t>(seed)));
    traces.insert(trace);
  }
  REQUIRE(traces.size() == static_cast<std::size_t>(seeds));
}

}  // namespace
}  // namespace shoal::core
