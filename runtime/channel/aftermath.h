// SPDX-License-Identifier: MIT
// Aftermath collects what an operation on a channel must do after it has unlocked: notify waiters,
// free messages, keys and the timers of ttls. Declare it before the lock is taken.
//
// A message may hold the last handle of another channel, which holds messages with handles, and so
// on: what such a destructor leaves is freed by the outermost Aftermath of the thread, one by one,
// so the stack does not grow with the length of the chain.
//
// Threads: the one that made it.
#pragma once

#include "runtime/channel/key_table.h"
#include "runtime/message/message.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class Aftermath {
 public:
  Aftermath() = default;
  Aftermath(const Aftermath&) = delete;
  Aftermath& operator=(const Aftermath&) = delete;
  // Mostly there is nothing to do.
  ~Aftermath() {
    if (!wakes.empty() || !dropped_.empty() || keys_ != nullptr || timers_ != nullptr) Finish();
  }

  WakeList wakes;
  void Drop(MessageList&& messages) { dropped_.Append(std::move(messages)); }
  // Takes keys linked by `next`; nullptr: none.
  void Destroy(Key* keys);
  // nullptr: none.
  void Drop(TtlTimer* timer) {
    if (timer == nullptr) return;
    timer->next_ = timers_;
    timers_ = timer;
  }

 private:
  void Finish();
  void Free();

  MessageList dropped_;
  Key* keys_ = nullptr;
  TtlTimer* timers_ = nullptr;
};

}  // namespace shoal::core
