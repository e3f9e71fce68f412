// SPDX-License-Identifier: MIT
// The BlockingPool runs what must block its thread: getaddrinfo, say. Threads are started when they
// are needed and end when they have been idle for some seconds.
//
// Nothing of the runtime but the job itself is touched while it runs. So one that hangs is left
// behind at the end, and its thread drops it when it comes back.
//
// Threads:   as said at each member.
// Ownership: a job is shared by the pool, until it has ended, and those who wait for it or want its
//            result. Who does not want it any more just drops it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

struct JobTag {};

// Something that blocks. Derived classes hold what it needs and its result.
//
// Locks: mu_ (kPolled). Waiters are notified without.
class BlockingJob : public RefCounted, public WaitPlace, public ListLink<JobTag> {
 public:
  // A thread of the pool; once. What it writes may be read by whoever has seen the job end.
  virtual void Run() = 0;

  // Any thread. kOk: it has ended. kClosed (the pool has been stopped), kNoThread: it will not run
  // any more. kPending: `node` (node.waiter open) has been published and will complete with one of
  // these. As many may wait as like.
  Status Await(WaitNode& node);
  void Withdraw(WaitNode& node) override;
  // kPending, or how it has ended.
  [[nodiscard]] Status state();

 private:
  friend class BlockingPool;
  void End(Status state);

  Mutex mu_{LockRank::kPolled};
  Status state_ SHOAL_GUARDED_BY(mu_) = Status::kPending;
  List<WaitNode, WaitTag> waits_ SHOAL_GUARDED_BY(mu_);
};

class BlockingPool {
 public:
  // Told on a thread of the pool, without a lock, when a job that counted in Armed() has ended.
  class Listener {
   public:
    virtual void OnJobEnded() = 0;

   protected:
    ~Listener() = default;
  };
  struct Options {
    int max_threads = 64;
    Duration idle_time = std::chrono::seconds(5);  // real time
  };

  BlockingPool(Listener& listener, const Options& options);
  // REQUIRES: Stop has been called, or nothing was started.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // Any thread. Runs `job`, on a thread of its own if one can be had, else when one becomes free.
  // kOk; kNoThread: there is no thread at all; kClosed after Stop. REQUIRES: once for
  // each job.
  Status Start(BlockingJob& job);
  // Runs it on this thread: for the simulator, in which one thing happens at a time.
  static void RunHere(BlockingJob& job);

  // Jobs that have not ended, or whose waiters have not all been notified. Any thread.
  [[nodiscard]] bool Armed() const;
  [[nodiscard]] int threads() const;

  // Jobs that wait for a thread end with kClosed; idle threads end. Then waits for the jobs that
  // run, till the deadline (real time): false if some still do. They are left behind: nobody who
  // waits for them is told, and the pool may be destroyed all the same. One caller at a time.
  bool Stop(TimePoint deadline);

 private:
  struct Shared;

  // The thread that was to run `job` could not be started.
  Status WithoutThread(BlockingJob& job, Status reason);
  void EndUnrun(BlockingJob& job, Status reason);

  const Ref<Shared> shared_;
};

}  // namespace shoal::core
