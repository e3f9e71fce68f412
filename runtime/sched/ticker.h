// SPDX-License-Identifier: MIT
// The Ticker is a thread that looks after busy workers, every 2.5 ms while there are any.
//
// Each tick: fires what is due (workers that are in a long dispatch do not); watches each dispatch;
// if something stands in a queue or slot whose worker does not come to it while another worker is
// parked, wakes that one. Without this, a process that was woken would wait until the sender's loop
// ends: it stands in the `next` slot, for which nobody is woken.
//
// If nobody is parked, the dispatches that take too long make room:
//   10 ms  the process is asked to end its slice, by a signal to its thread
//   15 ms  it has not (a C function runs, or code that may not be left): the thread is made to give
//          up its seat, and a spare thread takes that
// Nothing is asked for while nobody waits, so a program with one busy process gets no signals.
//
// Half a second after all have become idle it goes to sleep, so an idle program makes no system
// call. The worker that becomes busy loads a flag and wakes it only then.
//
// Threads: NoteBusy by any worker; Interrupt by any thread; the others by the scheduler's owner.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/count.h"
#include "runtime/base/status.h"
#include "runtime/sched/idle.h"
#include "runtime/sched/idle_source.h"
#include "runtime/sched/parker.h"
#include "runtime/sched/queues.h"
#include "runtime/sched/rest.h"
#include "runtime/sched/seats.h"
#include "runtime/sched/worker.h"

namespace shoal::core {

class Ticker {
 public:
  static constexpr Duration kPeriod = std::chrono::microseconds(2500);
  static constexpr int kIdleTicks = 200;
  static constexpr int kSliceTicks = 4;  // whole periods: a slice is 10 to 12.5 ms
  static constexpr int kPatience = 2;    // from there to the loss of the seat

  // `signal` goes to the thread of a dispatch of which something is asked; 0: it has to look
  // itself.
  Ticker(Idle& idle, Queues& queues, Rest& rest, IdleSource& source, Seats& seats, int signal)
      : idle_(idle),
        queues_(queues),
        rest_(rest),
        source_(source),
        seats_(seats),
        signal_(signal) {}
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  Status Start();
  // Ends the thread and joins it; nothing if it does not run.
  void Stop();

  // A worker that was parked, or searched, begins a dispatch.
  void NoteBusy() {
    // The worker became active before; pairs with SleepUntilBusy.
    if (asleep_.load()) Awaken();
  }

  // Something has been asked of a process that may be running: all dispatches that last look,
  // within two ticks.
  void Interrupt() { to_look_.store(true); }

  [[nodiscard]] std::uint64_t ticks() const { return ticks_.value(); }
  // See Scheduler::busy_time.
  [[nodiscard]] Duration busy_time() const {
    return Duration(static_cast<Duration::rep>(busy_time_.value()));
  }

 private:
  static void* Main(void* ticker);
  void Run();
  void Tick();
  // Follows the dispatch of `worker`; true if something stands there that it does not come to.
  bool LookAt(Worker& worker);
  // Nobody is parked to take what waits.
  void AskForRoom(Worker& worker);
  // Of the dispatches that last: all; those that have begun just before; or none.
  enum class Whom : std::uint8_t { kAll, kNew, kNobody };
  // Also asks again what the signal has not brought to its handler.
  void AskToLook(Worker& worker, Whom whom);
  void Ask(Worker& worker, Worker::Request request);
  void Signal(const Worker& worker);
  void SleepUntilBusy();
  void Awaken();

  Idle& idle_;
  Queues& queues_;
  Rest& rest_;
  IdleSource& source_;
  Seats& seats_;
  const int signal_;

  pthread_t thread_{};
  bool started_ = false;
  std::atomic<bool> stop_{false};    // publishes nothing; an Unpark follows
  std::atomic<bool> asleep_{false};  // seq_cst: pairs with Idle's count of active workers
  // Set after what is to be seen: the exchange pairs with it, so that a dispatch that began before
  // is interrupted after it.
  std::atomic<bool> to_look_{false};
  int looks_left_ = 0;  // the tick thread's own
  Parker parker_;
  Count ticks_;
  Count busy_time_;  // nanoseconds
};

}  // namespace shoal::core
