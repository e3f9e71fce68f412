// SPDX-License-Identifier: MIT
// A ChannelTimer sends a message to a channel at a time, or again and again.
//
// The send takes no notice of limits. A timer keeps no program from its end, but who waits at its
// channel does not wait in vain (Channel::AddTimer). It is of no process: it goes on when the one
// that started it has ended. It ends when it has sent, is cancelled, finds the channel closed, or
// finds that it alone refers to the channel.
//
//   state       left by
//   kWaiting    its time has come → kDue; Cancel → kCancelled
//   kDue        being fired: armed again → kWaiting; has ended → kEnded; Cancel → kCancelled
//   kCancelled  –
//   kEnded      –
//
// Threads:   Cancel from any thread; the rest from who advances the wheel.
// Ownership: shared by handles, and by the wheel until it ends.
// Locks:     mu_ (kTimer), so that it is not armed and disarmed at one time. Wheels are locked
//            under it.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/channel/channel.h"
#include "runtime/channel/key_name.h"
#include "runtime/process/machine.h"
#include "runtime/wait/timer_node.h"

namespace shoal::core {

class ChannelTimer final : public RefCounted, public TimerNode {
 public:
  // Sends `message` at `first` (kNever: never), and then each `period` after that, unless that is
  // zero; a beat is left out while the last one has not been received. Null if memory is short.
  static Ref<ChannelTimer> Start(Machine& machine, Channel& channel, const KeyName& key,
                                 MessagePtr message, TimePoint first, Duration period);

  // True: it would have sent, and does not any more; what it has sent may still stand there.
  bool Cancel();

  bool OnDue() override;
  void Fire() override;

 private:
  enum class State : std::uint8_t { kWaiting, kDue, kCancelled, kEnded };
  // What each message of a timer with a period refers to, so that it can be told whether the last
  // one is still there.
  class Beat final : public RefCounted {};

  ChannelTimer(Machine& machine, Channel& channel, const KeyName& key)
      : machine_(machine), channel_(Ref<Channel>::Share(&channel)), key_(key) {}
  ~ChannelTimer() override;

  bool SetMessage(MessagePtr message, Duration period);
  [[nodiscard]] MessagePtr NextMessage() const;
  bool Send();   // false: that was all
  bool Rearm();  // false: it has been cancelled
  void End();    // the one who has ended it; may free this

  Machine& machine_;
  Ref<Channel> channel_;  // null at the end, as is message_
  const StoredKeyName key_;
  MessagePtr message_;
  Duration period_ = Duration::zero();
  TimePoint next_ = kNever;
  Ref<Beat> beat_;
  Mutex mu_{LockRank::kTimer};
  // Changed under mu_, but for OnDue, which holds the wheel's lock, and an end. An exchange decides
  // whether a timer is cancelled or fires; it publishes nothing but itself.
  std::atomic<State> state_{State::kWaiting};
  // Of a timer with a period: no beat arrives after this is set (Channel::SendAnyway).
  std::atomic<bool> withdrawn_{false};
};

}  // namespace shoal::core
