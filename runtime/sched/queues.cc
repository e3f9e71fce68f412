// SPDX-License-Identifier: MIT
#include "runtime/sched/queues.h"

#include <array>
#include <new>
#include <utility>

namespace shoal::core {

Status Queues::Init(int workers, std::uint64_t seed) {
  store_.reset(new (std::nothrow) RunQueue::Store());
  workers_.reset(new (std::nothrow) std::unique_ptr<Worker>[static_cast<std::size_t>(workers)]);
  if (store_ == nullptr || workers_ == nullptr) return Status::kNoMemory;
  for (; size_ < workers; ++size_) {
    std::unique_ptr<Worker> made(new (std::nothrow) Worker(size_, *store_, seed));
    if (made == nullptr || !made->queue.valid()) return Status::kNoMemory;
    workers_[static_cast<std::size_t>(size_)] = std::move(made);
  }
  return Status::kOk;
}

Status Queues::DrawBy(std::uint64_t seed) {
  drawn_.reset(new (std::nothrow) DrawnQueue(seed));
  return drawn_ == nullptr ? Status::kNoMemory : Status::kOk;
}

// Putting in --------------------------------------------------------------------------------------

void Queues::PutNext(Worker& worker, Runnable& runnable) {
  if (drawn_ != nullptr) return Inject(runnable);
  Runnable* displaced = worker.ExchangeNext(&runnable);
  if (displaced != nullptr) PutTail(worker, *displaced);
}

void Queues::PutTail(Worker& worker, Runnable& runnable) {
  if (drawn_ != nullptr) return Inject(runnable);
  Runnable* const one = &runnable;
  Append(worker, &one, 1);
  idle_.Notify();
}

void Queues::PutAgain(Worker& worker, Runnable& runnable) {
  if (drawn_ != nullptr) return Inject(runnable);
  const bool alone = worker.queue.length() == 0 && worker.next() == nullptr;
  Runnable* const one = &runnable;
  Append(worker, &one, 1);
  if (!alone) idle_.Notify();
}

void Queues::Inject(Runnable& runnable) {
  if (drawn_ != nullptr) {
    drawn_->Push(runnable);
  } else {
    inject_.Push(runnable);
  }
  idle_.Notify();
}

void Queues::Append(Worker& worker, Runnable* const* runnables, int count) {
  if (worker.queue.Push({runnables, static_cast<std::size_t>(count)})) return;
  // No memory for a block of the queue.
  for (int i = 0; i < count; ++i) inject_.Push(*runnables[i]);
}

// Taking out --------------------------------------------------------------------------------------

Runnable* Queues::TakeLocal(Worker& worker) {
  if (drawn_ != nullptr) return drawn_->Draw();
  Runnable* runnable;
  // 1 Now and then the inject queue first; and what has stood there since a tick, because turns may
  // be long. In rounds, since those who give their seats away come back through it before the next
  // tick: what stands there, and then what stands here.
  if (worker.injects_first == 0 && worker.locals_first == 0 && worker.TakeInjectNote()) {
    worker.injects_first = inject_.length();
  }
  if (worker.turns_to_inject-- == 0 || worker.injects_first != 0) {
    worker.turns_to_inject = kInjectPeriod - 1;
    runnable = inject_.Pop();
    if (worker.injects_first != 0) {
      worker.injects_first = runnable == nullptr ? 0 : worker.injects_first - 1;
      // No more than that: a turn may be a whole slice, which the next from outside waits for.
      if (worker.injects_first == 0) {
        worker.locals_first = worker.queue.length() + (worker.next() == nullptr ? 0 : 1);
      }
    }
    if (runnable != nullptr) {
      // What was put in by PutAgain counted on being taken now.
      if (worker.queue.length() != 0) idle_.Notify();
      return runnable;
    }
  }
  if (worker.locals_first != 0) --worker.locals_first;
  // 2 What was woken last, but not for ever: two processes that wake each other in turn must not
  // starve the queue.
  if (worker.next_streak < kMaxNextStreak) {
    runnable = worker.ExchangeNext(nullptr);
    if (runnable != nullptr) {
      ++worker.next_streak;
      return runnable;
    }
  }
  worker.next_streak = 0;
  // 3 The queue; then the slot if it was passed over.
  runnable = worker.queue.Pop();
  if (runnable != nullptr) return runnable;
  worker.locals_first = 0;
  runnable = worker.ExchangeNext(nullptr);
  if (runnable != nullptr) return runnable;
  // 4 What came from outside.
  return inject_.Pop();
}

Runnable* Queues::Search(Worker& worker) {
  Worker* held_up = nullptr;  // whose `next` slot is being watched
  Runnable* watched = nullptr;
  std::uint64_t turn = 0;
  int since = 0;
  const int count = size();
  const int first = static_cast<int>(worker.Random() % static_cast<unsigned>(count));
  for (int round = 0; round < kSearchRounds; ++round) {
    // 1 The inject queue.
    Runnable* runnable = inject_.Pop();
    if (runnable != nullptr) return runnable;
    // 2 Everybody's run queue.
    for (int i = 0; i < count; ++i) {
      const int index = first + i < count ? first + i : first + i - count;
      Worker& victim = this->worker(index);
      runnable = StealFrom(victim, worker);
      if (runnable != nullptr) return runnable;
      // 3 A slot to watch.
      if (held_up == nullptr && &victim != &worker && victim.next() != nullptr) {
        held_up = &victim;
        turn = victim.turn();
        watched = victim.next();
        since = round;
      }
    }
    // 4 The watched slot, if it and the dispatch have stayed the same for long enough.
    if (held_up != nullptr && (held_up->turn() != turn || held_up->next() != watched)) {
      held_up = nullptr;
    }
    if (held_up != nullptr && watched != nullptr && round - since >= kNextPatience) {
      if (held_up->StealNext(watched)) {
        worker.next_steals.Add();
        return watched;
      }
      held_up = nullptr;
    }
    __builtin_ia32_pause();
  }
  return nullptr;
}

Runnable* Queues::StealFrom(Worker& victim, Worker& worker) {
  if (&victim == &worker) return worker.queue.Pop();
  if (victim.queue.length() == 0) return nullptr;
  std::array<Runnable*, RunQueue::kMaxSteal> stolen;
  const int count = victim.queue.Steal(stolen);
  if (count == 0) return nullptr;
  worker.steals.Add(static_cast<std::uint64_t>(count));
  // The searcher is still counted as one, so nobody has to be told: it looks when it ends.
  if (count > 1) Append(worker, stolen.data() + 1, count - 1);
  return stolen[0];
}

bool Queues::AnyStands() const {
  if (drawn_ != nullptr) return drawn_->length() != 0;
  if (inject_.length() != 0) return true;
  for (int i = 0; i < size_; ++i) {
    if (workers_[static_cast<std::size_t>(i)]->queue.length() != 0) return true;
  }
  return false;
}

Runnable* Queues::TakeLeftover() {
  if (drawn_ != nullptr) return drawn_->Draw();
  for (int i = 0; i < size_; ++i) {
    Runnable* runnable = worker(i).ExchangeNext(nullptr);
    if (runnable == nullptr) runnable = worker(i).queue.Pop();
    if (runnable != nullptr) return runnable;
  }
  return inject_.Pop();
}

}  // namespace shoal::core
