// SPDX-License-Identifier: MIT
// Queues are all the places of a scheduler where a Runnable can stand: each worker's run queue and
// `next` slot, and the inject queue; and the rules by which it is put there and found.
//
// A worker takes, in this order:
//   every 61st turn, and when something has stood there at a tick, the inject queue, so that it is
//   not starved by local work; but after each such round, as many turns as stand here
//   its `next` slot, at most 64 times in a row
//   its run queue
//   the inject queue
//   then, as a searcher, what others have: half of a run queue, or a `next` slot whose worker is
//   busy with the same dispatch all the time.
//
// In the simulator, there is one place for all (drawn_queue.h).
//
// Threads: members with a `worker` by the thread that has that seat, the others by any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/status.h"
#include "runtime/sched/drawn_queue.h"
#include "runtime/sched/idle.h"
#include "runtime/sched/inject_queue.h"
#include "runtime/sched/run_queue.h"
#include "runtime/sched/runnable.h"
#include "runtime/sched/worker.h"

namespace shoal::core {

class Queues {
 public:
  static constexpr std::uint32_t kInjectPeriod = 61;
  static constexpr std::uint32_t kMaxNextStreak = 64;
  // A search takes some 3 µs if it finds nothing: a third of what a sleep and a wake-up cost.
  static constexpr int kSearchRounds = 96;
  // A `next` slot is stolen if it has not changed for so many rounds, nor the dispatch: its worker
  // does not seem to come to it soon.
  static constexpr int kNextPatience = 48;

  explicit Queues(Idle& idle) : idle_(idle) {}
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  // Makes the workers. kNoMemory.
  Status Init(int workers, std::uint64_t seed);
  // After that: what is ready is drawn by the seed. REQUIRES: one worker. kNoMemory.
  Status DrawBy(std::uint64_t seed);

  [[nodiscard]] int size() const { return size_; }
  Worker& worker(int index) { return *workers_[static_cast<std::size_t>(index)]; }

  // --- Putting in -------------------------------------------------------------------------------

  // See Scheduler::Ready, ReadyTail and ReadyAgain, for a thread with a seat …
  void PutNext(Worker& worker, Runnable& runnable);
  void PutTail(Worker& worker, Runnable& runnable);
  void PutAgain(Worker& worker, Runnable& runnable);
  // … and for one without.
  void Inject(Runnable& runnable);

  // --- Taking out -------------------------------------------------------------------------------

  // Without looking at other workers. nullptr if there is nothing.
  Runnable* TakeLocal(Worker& worker);
  // Looks at everybody's for some microseconds. What is stolen besides goes to the worker's queue.
  // REQUIRES: the worker is searching. It still is afterwards.
  Runnable* Search(Worker& worker);

  // Whether anything stands in a queue. `next` slots do not count: their workers are active.
  // Sequentially consistent with putting in: see idle.h.
  [[nodiscard]] bool AnyStands() const;
  [[nodiscard]] bool InjectStands() const { return inject_.length() != 0; }
  // The tick thread: what stands in the inject queue now comes first for each worker.
  void NoteInject() {
    for (int i = 0; i < size_; ++i) worker(i).NoteInject();
  }
  // REQUIRES: no thread has a seat.
  Runnable* TakeLeftover();

 private:
  void Append(Worker& worker, Runnable* const* runnables, int count);
  Runnable* StealFrom(Worker& victim, Worker& worker);

  Idle& idle_;
  InjectQueue inject_;
  // The store of all run queues; outlives them.
  std::unique_ptr<RunQueue::Store> store_;
  std::unique_ptr<std::unique_ptr<Worker>[]> workers_;
  // Instead of all other places, if it is there.
  std::unique_ptr<DrawnQueue> drawn_;
  int size_ = 0;
};

}  // namespace shoal::core
