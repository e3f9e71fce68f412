// SPDX-License-Identifier: MIT
// A SeatTicket stands for a thread that gave its seat away and will want one again.
//
// Threads:   made by the blocked thread; given to a worker in whatever way wakes that thread.
// Ownership: the blocked thread's, usually on its stack. It may go when AwaitSeat has returned; if
//            that was kOk, HandSeat does not touch it any more.
// Locks:     the fields are guarded by Seats::mu_ (kIdle).
#pragma once

#include "runtime/base/intrusive_list.h"
#include "runtime/sched/parker.h"

namespace shoal::core {

class Worker;
struct TicketTag {};

class SeatTicket : public ListLink<TicketTag> {
 public:
  SeatTicket() = default;

 private:
  friend class Seats;
  Worker* seat_ = nullptr;  // handed over, not yet taken
  Parker parker_;
};

}  // namespace shoal::core
