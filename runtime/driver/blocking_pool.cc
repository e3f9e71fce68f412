// SPDX-License-Identifier: MIT
#include "runtime/driver/blocking_pool.h"

#include <climits>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/futex.h"
#include "runtime/base/test_point.h"
#include "runtime/base/thread_start.h"

namespace shoal::core {

namespace {
TimePoint RealTime() { return std::chrono::steady_clock::now(); }
}  // namespace

// Jobs --------------------------------------------------------------------------------------------

Status BlockingJob::Await(WaitNode& node) {
  MutexLock lock(mu_);
  if (state_ != Status::kPending) return state_;
  node.place = this;
  waits_.PushBack(node);
  return Status::kPending;
}

void BlockingJob::Withdraw(WaitNode& node) {
  MutexLock lock(mu_);
  if (node.linked()) node.Unlink();
}

Status BlockingJob::state() {
  MutexLock lock(mu_);
  return state_;
}

void BlockingJob::End(Status state) {
  WakeList woken;
  MutexLock lock(mu_);
  state_ = state;
  while (WaitNode* node = waits_.PopFront()) {
    if (!node->waiter->TryClaim()) continue;
    node->waiter->SetOutcome(state, node->index);
    woken.Add(*node->waiter);
  }
}

// What the threads share --------------------------------------------------------------------------

// Kept by the pool and by each thread.
struct BlockingPool::Shared final : RefCounted {
  Shared(Listener& told, const Options& bounds) : options(bounds), listener(told) {}

  static void* Main(void* shared);
  // The next job, with its reference; nullptr: the thread ends.
  BlockingJob* Next();
  void Finish(BlockingJob& job);
  void Note() {
    events.fetch_add(1);
    FutexWake(events, 1);
  }

  const Options options;
  Listener& listener;  // not used after Stop
  // What idle threads sleep on: counts jobs for which one of them is woken.
  std::atomic<std::uint32_t> wakes{0};
  // What Stop sleeps on: counts ends of threads and of jobs. Changes after what Stop looks at.
  std::atomic<std::uint32_t> events{0};
  // See Armed. seq_cst: pairs with the checks for rest.
  std::atomic<int> armed{0};

  Mutex mu{LockRank::kLeaf};
  List<BlockingJob, JobTag> queue SHOAL_GUARDED_BY(mu);  // with a reference each
  int queued SHOAL_GUARDED_BY(mu) = 0;
  int idle SHOAL_GUARDED_BY(mu) = 0;  // also those that have been woken, and not taken a job yet
  int threads SHOAL_GUARDED_BY(mu) = 0;
  int telling SHOAL_GUARDED_BY(mu) = 0;  // threads that notify, and call the listener
  bool stopped SHOAL_GUARDED_BY(mu) = false;
};

void* BlockingPool::Shared::Main(void* shared) {
  // Nobody joins it: it may hang for ever.
  pthread_detach(pthread_self());
  NameThread("block", -1);
  const auto mine = Ref<Shared>::Adopt(static_cast<Shared*>(shared));
  while (BlockingJob* job = mine->Next()) {
    job->Run();
    mine->Finish(*job);
  }
  mine->Note();
  return nullptr;
}

BlockingJob* BlockingPool::Shared::Next() {
  const TimePoint deadline = DeadlineAfter(RealTime(), options.idle_time);
  for (;;) {
    std::uint32_t seen = 0;
    {
      MutexLock lock(mu);
      if (BlockingJob* job = queue.PopFront()) {
        --queued;
        return job;
      }
      if (stopped || RealTime() >= deadline) {
        --threads;
        return nullptr;
      }
      ++idle;
      seen = wakes.load();
    }
    FutexWait(wakes, seen, deadline);
    MutexLock lock(mu);
    --idle;
  }
}

void BlockingPool::Shared::Finish(BlockingJob& job) {
  const auto done = Ref<BlockingJob>::Adopt(&job);
  {
    MutexLock lock(mu);
    // Left behind: those who waited may be gone, with all that they would be told by.
    if (stopped) return;
    ++telling;
  }
  SHOAL_TEST_POINT("blocking_pool.telling");
  done->End(Status::kOk);
  armed.fetch_sub(1);
  listener.OnJobEnded();
  {
    MutexLock lock(mu);
    --telling;
  }
  Note();
}

// The pool ----------------------------------------------------------------------------------------

BlockingPool::BlockingPool(Listener& listener, const Options& options)
    : shared_(Ref<Shared>::Adopt(new Shared(listener, options))) {}

BlockingPool::~BlockingPool() = default;

bool BlockingPool::Armed() const { return shared_->armed.load() != 0; }

int BlockingPool::threads() const {
  MutexLock lock(shared_->mu);
  return shared_->threads;
}

Status BlockingPool::Start(BlockingJob& job) {
  Shared& shared = *shared_;
  bool starts = false;
  bool wakes = false;
  {
    MutexLock lock(shared.mu);
    if (shared.stopped) return Status::kClosed;
    job.AddRef();
    shared.queue.PushBack(job);
    ++shared.queued;
    shared.armed.fetch_add(1);
    // One idle thread for each that stands there, or a new one.
    wakes = shared.idle >= shared.queued;
    starts = !wakes && shared.threads < shared.options.max_threads;
    if (starts) ++shared.threads;
  }
  if (wakes) {
    shared.wakes.fetch_add(1);
    FutexWake(shared.wakes, 1);
  }
  if (!starts) return Status::kOk;
  pthread_t thread;
  shared.AddRef();
  const Status started = StartThread(&Shared::Main, &shared, &thread);
  if (started == Status::kOk) return Status::kOk;
  shared.Release();
  return WithoutThread(job, started);
}

Status BlockingPool::WithoutThread(BlockingJob& job, Status reason) {
  List<BlockingJob, JobTag> left;
  {
    MutexLock lock(shared_->mu);
    // Others will come to it.
    if (--shared_->threads > 0) return Status::kOk;
    // Nobody will; nor to those that were left to a thread which could not be started either.
    while (BlockingJob* other = shared_->queue.PopFront()) left.PushBack(*other);
    shared_->queued = 0;
  }
  bool is_there = false;
  while (BlockingJob* other = left.PopFront()) {
    is_there = is_there || other == &job;
    EndUnrun(*other, reason);
  }
  // Else another thread has run it, or ended it like this.
  return is_there ? reason : Status::kOk;
}

void BlockingPool::EndUnrun(BlockingJob& job, Status reason) {
  job.End(reason);
  shared_->armed.fetch_sub(1);
  job.Release();
}

void BlockingPool::RunHere(BlockingJob& job) {
  job.Run();
  job.End(Status::kOk);
}

bool BlockingPool::Stop(TimePoint deadline) {
  Shared& shared = *shared_;
  List<BlockingJob, JobTag> left;
  {
    MutexLock lock(shared.mu);
    shared.stopped = true;
    while (BlockingJob* job = shared.queue.PopFront()) left.PushBack(*job);
    shared.queued = 0;
  }
  while (BlockingJob* job = left.PopFront()) EndUnrun(*job, Status::kClosed);
  shared.wakes.fetch_add(1);
  FutexWake(shared.wakes, INT_MAX);
  for (;;) {
    const std::uint32_t seen = shared.events.load();
    bool tells = false;
    {
      MutexLock lock(shared.mu);
      if (shared.threads == 0) return true;
      tells = shared.telling > 0;
    }
    // Those that are telling come back soon, and use what may be gone afterwards.
    if (!tells && RealTime() >= deadline) return false;
    FutexWait(shared.events, seen, tells ? kNever : deadline);
  }
}

}  // namespace shoal::core
