// SPDX-License-Identifier: MIT
#include "runtime/sched/work_loop.h"

#include "runtime/base/test_point.h"

namespace shoal::core {

void WorkLoop::Work(WorkerThread& thread) {
  Searching searching = Searching::kNo;
  // 1 The seat: Run may have given it away, or brought another one.
  while (Worker* worker = thread.seat()) {
    // 2 The end.
    if (stop_.load(std::memory_order_relaxed)) return;
    // 3 In the simulator, until the thread that sat here before has come to its wait. Then timers
    // of this worker.
    thread.seats()->AwaitOthers();
    source_.Turn(worker->index());
    // 4 Something to run: here, or elsewhere.
    Runnable* runnable = queues_.TakeLocal(*worker);
    if (runnable == nullptr) {
      if (searching == Searching::kNo && idle_.BeginSearch()) searching = Searching::kYes;
      if (searching == Searching::kYes) runnable = queues_.Search(*worker);
    }
    // 5 Nothing.
    if (runnable == nullptr) {
      searching = Park(*worker, searching);
      continue;
    }
    // 6 Before it runs: others may be needed, for what else there is, and for the time.
    if (searching == Searching::kYes) {
      searching = Searching::kNo;
      LeaveSearch();
    }
    ticker_.NoteBusy();
    // 7 Run it. Nothing of before is true afterwards.
    worker->BeginDispatch();
    runnable->Run();
    worker = thread.seat();
    if (worker != nullptr) worker->EndDispatch();
  }
}

void WorkLoop::LeaveSearch() {
  if (!idle_.EndSearch()) return;
  SHOAL_TEST_POINT("work_loop.last_searcher");
  // Who has pushed something while this worker searched has left it to the searchers. And if it was
  // the timekeeper, another one has to be while it runs; a searcher that finds nothing becomes it.
  if (queues_.AnyStands() || TimeIsUnkept()) idle_.Notify();
}

bool WorkLoop::TimeIsUnkept() {
  return idle_.HasParked() && source_.NeedsTimekeeper() && !idle_.HasTimekeeper();
}

WorkLoop::Searching WorkLoop::Park(Worker& worker, Searching searching) {
  // 1 Register. The last one first looks whether everything is at rest, as often as it takes.
  std::uint64_t settled = ~std::uint64_t{0};
  std::uint32_t epoch = 0;
  std::uint64_t seen = 0;
  Idle::Parking parking;
  while ((parking = idle_.Register(worker, searching, settled, &epoch)) == Idle::Parking::kLast) {
    if (rest_.Check(worker, epoch, &seen) == Rest::Outcome::kGoOn) return searching;
    settled = epoch;
  }
  if (parking == Idle::Parking::kStopped) return searching;
  // 2 Registered: from now on others wake this worker. What came before has to be seen by itself.
  SHOAL_TEST_POINT("work_loop.registered");
  const bool was_last = settled == epoch;
  if (queues_.AnyStands() || (was_last && rest_.HasChanged(seen))) {
    idle_.Unregister(worker);
    return Searching::kYes;
  }
  // 3 Sleep. Whoever wakes it has counted it as searching.
  worker.parks.Add();
  if (idle_.Sleep(worker)) source_.Poll();
  return Searching::kYes;
}

}  // namespace shoal::core
