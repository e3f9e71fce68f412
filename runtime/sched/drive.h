// SPDX-License-Identifier: MIT
// A Drive is what a scheduler without threads of its own has in their place: threads of others take
// its one seat for a time, and do there what the tick thread does elsewhere.
//
// What runs is interrupted by nobody. It asks MustLook every few microseconds, and there timers
// fire, and the time is looked at: at the end of the run, or of a slice of 10 ms while others wait,
// it makes way.
//
// While nobody has the seat, its worker counts as active, so that nobody wakes it, and nothing is
// at rest.
//
// Threads: Run by any thread, one at a time has the seat; MustLook and HasLooked by the one that
//          has; the rest as said.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/sched/idle.h"
#include "runtime/sched/idle_source.h"
#include "runtime/sched/queues.h"
#include "runtime/sched/rest.h"
#include "runtime/sched/seats.h"
#include "runtime/sched/worker.h"

namespace shoal::core {

// How a thread that has run a scheduler came to the end of it.
enum class RunEnd : std::uint8_t {
  kTimeIsUp,  // something is ready
  kNothing,   // nothing is
  kChanged,   // what was to end it has happened
  kBusy,      // the seat is taken, perhaps by the calling thread itself: nothing was done
  kClosed,    // the scheduler has been stopped
};

// When nothing is ready before the time is up.
enum class WhenIdle : bool { kReturn, kSleep };

struct RunBounds {
  TimePoint deadline = kNever;  // real time
  WhenIdle when_idle = WhenIdle::kReturn;
  // It ends when this is `seen` no more. Whoever changes it interrupts the IdleSource after that.
  // nullptr: there is none.
  const std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t seen = 0;

  [[nodiscard]] bool HasChanged() const { return word != nullptr && word->load() != seen; }
};

class Drive {
 public:
  // How often what is due is looked for while something runs.
  static constexpr Duration kPeriod = std::chrono::microseconds(2500);
  static constexpr Duration kSlice = std::chrono::milliseconds(10);

  Drive(Idle& idle, Queues& queues, Rest& rest, IdleSource& source, Seats& seats)
      : idle_(idle), queues_(queues), rest_(rest), source_(source), seats_(seats) {}
  Drive(const Drive&) = delete;
  Drive& operator=(const Drive&) = delete;

  // Takes the seat, and runs what is ready, one dispatch at least, within the bounds. It returns
  // later than the deadline if a dispatch does not look. With kSleep, the clock of the IdleSource
  // is that of real time.
  RunEnd Run(const RunBounds& bounds);

  [[nodiscard]] bool MustLook();
  void HasLooked() { slice_turn_ = kNoTurn; }
  // Any thread: something has been asked of what runs.
  void Interrupt() { to_look_.store(true); }

  // Any thread. Whoever has the seat leaves it after the present dispatch, and nobody takes it any
  // more. False: somebody still has it at the deadline (real time).
  bool Stop(TimePoint deadline);

 private:
  static constexpr std::uint64_t kNoTurn = ~std::uint64_t{0};

  RunEnd Work(Worker& worker);
  [[nodiscard]] Runnable* Take(Worker& worker);
  // Nothing is ready: looks whether all is at rest. False: there is something after all.
  [[nodiscard]] bool Settle(Worker& worker);
  void Sleep(Worker& worker);
  void Tick(TimePoint now);
  [[nodiscard]] bool OthersWait(const Worker& worker) const;

  Idle& idle_;
  Queues& queues_;
  Rest& rest_;
  IdleSource& source_;
  Seats& seats_;

  // 1: somebody has the seat. seq_cst, for Stop; the store of 0 publishes the fields below to the
  // next one who has it.
  std::atomic<std::uint32_t> taken_{0};
  std::atomic<bool> stop_{false};
  // Set after what is to be seen: the exchange pairs with it, so that what runs then looks after.
  std::atomic<bool> to_look_{false};

  // Those of the thread that has the seat.
  RunBounds bounds_;
  TimePoint next_tick_{};
  std::uint64_t slice_turn_ = kNoTurn;  // the dispatch whose slice it is
  TimePoint slice_end_{};
  std::uint64_t settled_rest_ = 0;  // Rest's word when all was at rest, for Sleep
};

}  // namespace shoal::core
