// SPDX-License-Identifier: MIT
// A Descriptor is an open file descriptor (a socket, a pipe) for which tasks can wait.
//
// Edges count: a wait completes when the descriptor *becomes* ready. So the order is
//   1 try: recv, send, accept, connect, without blocking
//   2 EAGAIN (EINPROGRESS): Await. kOk: it has become ready since; go to 1. kPending: wait, then 1
// An edge that comes while nobody waits is kept for the next Await, so nothing falls between 1 and
// 2. A wait that ends with kOk is a reason to try again, not a promise: the edge may be older than
// the last try. (So whether a connect is through, poll(2) has to say.)
//
// Who has nothing to try, but looks by poll(2) (a select), says so first:
//   1 Expect on each descriptor and direction: edges seen so far are forgotten
//   2 poll(2): done, if any is ready
//   3 Await on each; kOk: back to 1
//
// Any number may wait in one direction (and each several times): an edge completes them all, and
// who tries last finds nothing, and waits again. An edge that is kept is for one. So while one
// stands between 1 and 2, no other does the same: the tasks of one process never do.
//
// Threads:   any thread may call any member. But fd() is a number: a system call with it on one
//            thread and Close on another may meet another file. The tasks of one process, which
//            never run at once, need not care.
// Ownership: shared by its handles. Whoever waits keeps a reference till EndWait. Closes the file
//            when the last one goes. The Poller outlives it.
// Locks:     that of its slot (kPolled); epoll_ctl is called under it, seldom: at the first wait of
//            each direction, and at Close. Waiters are notified without.
#pragma once

#include <atomic>

#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/driver/poll_slots.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class Poller;

class Descriptor final : public RefCounted, public WaitPlace {
 public:
  // Takes over `fd`, which does not block; nothing is registered yet. Null, with `errno` set, if
  // the system or memory are at their limit: `fd` is still the caller's.
  [[nodiscard]] static Ref<Descriptor> Adopt(Poller& poller, int fd);

  // -1 when it has been closed.
  [[nodiscard]] int fd() const { return fd_.load(std::memory_order_relaxed); }

  // See above. kPending: `node` (node.waiter open) has been published, and will complete with kOk
  // or kClosed. Otherwise it has not: kOk, try again; kClosed; kNoMemory, the kernel refused to
  // watch it.
  Status Await(WaitNode& node, Direction direction);
  // See above. kOk, kClosed, kNoMemory.
  Status Expect(Direction direction);
  void Withdraw(WaitNode& node) override;

  // Completes the waits with kClosed and closes the file. Does nothing if it has been.
  void Close();
  // The same, but does not close the file: returns it, -1 if there is none any more.
  [[nodiscard]] int Detach();

 private:
  Descriptor(Poller& poller, PollSlot& slot, int fd) : poller_(poller), slot_(slot), fd_(fd) {}
  ~Descriptor() override;

  Poller& poller_;
  // When it has been closed, the slot is another one's; then only its mutex is used, by Withdraw.
  PollSlot& slot_;
  // Changes once, to -1, under the slot's lock. relaxed: publishes nothing.
  std::atomic<int> fd_;
};

}  // namespace shoal::core
