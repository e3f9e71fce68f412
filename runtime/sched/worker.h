// SPDX-License-Identifier: MIT
// A Worker is a seat: a run queue, a `next` slot and the counts of what its thread does there.
//
// Threads: the owner is the thread that holds the seat. Others see the slot, the queue and the
//          counts as said at each member. A seat changes its thread through a lock of Seats, or is
//          handed to a new thread; both order what the old owner did before what the new one does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/count.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/sched/interrupt.h"
#include "runtime/sched/parker.h"
#include "runtime/sched/run_queue.h"
#include "runtime/sched/runnable.h"

namespace shoal::core {

struct ParkedTag {};

class alignas(64) Worker : public ListLink<ParkedTag> {
 public:
  Worker(int index, RunQueue::Store& store, std::uint64_t seed)
      : queue(store),
        random_(seed + static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15),
        index_(index) {}

  [[nodiscard]] int index() const { return index_; }

  // --- The `next` slot: what the owner has woken last. ------------------------------------------

  // The owner. Returns what stood there before.
  [[nodiscard]] Runnable* ExchangeNext(Runnable* runnable) {
    // Others only ever empty the slot: what the owner sees empty stays so until the owner fills it,
    // and a store cannot overwrite anything. release: publishes the Runnable to a thief.
    if (next_.load(std::memory_order_relaxed) == nullptr) {
      if (runnable != nullptr) next_.store(runnable, std::memory_order_release);
      return nullptr;
    }
    // A thief may be faster. acq_rel: as above, and takes over nothing but what the owner put there
    // itself.
    return next_.exchange(runnable, std::memory_order_acq_rel);
  }
  // Any thread: what stands there at the moment.
  [[nodiscard]] Runnable* next() const { return next_.load(std::memory_order_relaxed); }
  // Any thread. Takes `runnable` if it still stands there.
  [[nodiscard]] bool StealNext(Runnable* runnable) {
    // acquire: pairs with the release that put it there. If it has been run and put there again
    // meanwhile, that is as good.
    return next_.compare_exchange_strong(runnable, nullptr, std::memory_order_acquire);
  }

  // --- The turn: odd during a dispatch, even between two. ---------------------------------------

  // The owner.
  void BeginDispatch() { turn_.store(turn() + 1, std::memory_order_relaxed); }
  // The owner. Does nothing if there is no dispatch.
  void EndDispatch() { turn_.store((turn() + 1) & ~std::uint64_t{1}, std::memory_order_relaxed); }
  // Any thread; if it is the same after some time, so was the dispatch. relaxed: publishes nothing.
  [[nodiscard]] std::uint64_t turn() const { return turn_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool InDispatch() const { return (turn() & 1U) != 0; }
  [[nodiscard]] std::uint64_t dispatches() const { return (turn() + 1) / 2; }

  // --- Interrupts: what the tick thread asks of a dispatch. -------------------------------------

  enum class Request : std::uint8_t {
    kNone,
    kLook,   // the process looks whether it has been asked to end, and ends its slice
    kLeave,  // it has not: the thread gives up the seat, whatever it is in
  };
  // The tick thread. Concerns the dispatch of `turn` only.
  void Ask(Request request, std::uint64_t turn) {
    __atomic_store_n(&taken_, 0, __ATOMIC_RELAXED);
    request_.store(Word(request, turn), std::memory_order_relaxed);
  }
  // The tick thread: `request` has been asked of the dispatch of `turn`, and the handler has not
  // taken it. The thread was pinned, or in no section; or the signal went to the thread that sat
  // here before, since the one that sits here now had yet to be woken.
  [[nodiscard]] bool IsOpen(Request request, std::uint64_t turn) const {
    const std::uint64_t word = Word(request, turn);
    return request_.load(std::memory_order_relaxed) == word &&
           __atomic_load_n(&taken_, __ATOMIC_RELAXED) != word;
  }
  // The owner, in a signal handler that does what is asked. relaxed: publishes nothing.
  SHOAL_IN_SIGNAL_HANDLER void SetTaken(Request request) {
    const std::uint64_t turn = __atomic_load_n(RawWord(turn_), __ATOMIC_RELAXED);
    __atomic_store_n(&taken_, Word(request, turn), __ATOMIC_RELAXED);
  }
  // The owner, also in a signal handler. relaxed: publishes nothing.
  [[nodiscard]] SHOAL_IN_SIGNAL_HANDLER Request request() const {
    const std::uint64_t word = __atomic_load_n(RawWord(request_), __ATOMIC_RELAXED);
    if (word >> 2U != __atomic_load_n(RawWord(turn_), __ATOMIC_RELAXED)) return Request::kNone;
    return static_cast<Request>(word & 3U);
  }
  // The owner: it has done so.
  void Answer() { request_.store(0, std::memory_order_relaxed); }
  // The tick thread, which has asked.
  [[nodiscard]] bool HasAnswered() const { return request_.load(std::memory_order_relaxed) == 0; }

  // --- The inject queue. ------------------------------------------------------------------------

  // The tick thread: something stands there. relaxed: publishes nothing; one that gets lost between
  // the two accesses of the owner is followed by another at the next tick.
  void NoteInject() { inject_noted_.store(true, std::memory_order_relaxed); }
  // The owner.
  [[nodiscard]] bool TakeInjectNote() {
    if (!inject_noted_.load(std::memory_order_relaxed)) return false;
    inject_noted_.store(false, std::memory_order_relaxed);
    return true;
  }

  // Whom to send the signal: the thread that sat down last. It may have ended meanwhile: then the
  // signal goes nowhere, or to a thread that ignores it. relaxed: publishes nothing.
  void SetThread(int id) { thread_id_.store(id, std::memory_order_relaxed); }
  [[nodiscard]] int thread_id() const { return thread_id_.load(std::memory_order_relaxed); }

  // A seat that its thread gave up in a signal handler waits for the tick thread to find another
  // one. release: publishes the owner's own fields to whoever takes the seat; acquire there.
  void SetAbandoned() { abandoned_.store(true, std::memory_order_release); }
  // The tick thread, the thread itself, or Stop: true for the one that gets the seat.
  [[nodiscard]] bool TakeAbandoned() {
    return abandoned_.load(std::memory_order_relaxed) &&
           abandoned_.exchange(false, std::memory_order_acquire);
  }

  // The owner.
  std::uint64_t Random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  RunQueue queue;

  // The owner's own.
  std::uint32_t next_streak = 0;      // dispatches in a row that came from the slot
  std::uint32_t turns_to_inject = 0;  // until the inject queue is looked at first
  std::size_t injects_first = 0;      // how many of the inject queue come before all else
  std::size_t locals_first = 0;       // … and then, how many turns are for what stands here

  // The tick thread's own: the turn it saw last, for how many ticks that has been the same, and
  // after how many it asked for room first; 0: it has not.
  std::uint64_t watched_turn = 0;
  int dispatch_ticks = 0;
  int asked_ticks = 0;
  bool asked_to_leave = false;

  Count steals;
  Count next_steals;
  Count parks;

  // Where its thread sleeps. Guarded by Idle::mu_ while the worker stands in the list of the
  // parked, else the owner's.
  Parker* parker = nullptr;

 private:
  SHOAL_IN_SIGNAL_HANDLER static std::uint64_t Word(Request request, std::uint64_t turn) {
    return turn << 2U | static_cast<std::uint64_t>(request);
  }
  // For the handler, which must not call what the thread sanitizer has put its calls in.
  static const std::uint64_t* RawWord(const std::atomic<std::uint64_t>& word) {
    static_assert(sizeof(word) == sizeof(std::uint64_t));
    return reinterpret_cast<const std::uint64_t*>(&word);
  }

  std::uint64_t random_;
  const int index_;
  // Looked at by thieves and the tick thread while the owner writes, hence a line of their own.
  alignas(64) std::atomic<Runnable*> next_{nullptr};
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<std::uint64_t> request_{0};  // the turn it is for, and in the low bits what
  std::uint64_t taken_ = 0;                // accessed by the handler, so with built-in atomics only
  std::atomic<int> thread_id_{0};
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> inject_noted_{false};
};

}  // namespace shoal::core
