// SPDX-License-Identifier: MIT
// The WorkLoop is what a thread does while it sits on a worker: take, search, park, run.
//
// Threads: Work by each thread of the scheduler; Stop by any.
#pragma once

#include <atomic>

#include "runtime/sched/idle.h"
#include "runtime/sched/idle_source.h"
#include "runtime/sched/queues.h"
#include "runtime/sched/rest.h"
#include "runtime/sched/seats.h"
#include "runtime/sched/ticker.h"
#include "runtime/sched/worker.h"

namespace shoal::core {

class WorkLoop final : public Seats::Loop {
 public:
  WorkLoop(Idle& idle, Queues& queues, Rest& rest, Ticker& ticker, IdleSource& source)
      : idle_(idle), queues_(queues), rest_(rest), ticker_(ticker), source_(source) {}
  WorkLoop(const WorkLoop&) = delete;
  WorkLoop& operator=(const WorkLoop&) = delete;

  void Work(WorkerThread& thread) override;

  // Each thread returns from Work after its present turn. Parked ones are woken by Idle::Stop.
  void Stop() { stop_.store(true); }

 private:
  using Searching = Idle::Searching;

  void LeaveSearch();
  // Something is armed and nobody sleeps in the source, though somebody is parked.
  [[nodiscard]] bool TimeIsUnkept();
  // Parks, unless there is something to do after all. Returns whether the worker is searching.
  Searching Park(Worker& worker, Searching searching);

  Idle& idle_;
  Queues& queues_;
  Rest& rest_;
  Ticker& ticker_;
  IdleSource& source_;
  // Read each turn. relaxed: publishes nothing; who has overlooked it finds Idle stopped.
  std::atomic<bool> stop_{false};
};

}  // namespace shoal::core
