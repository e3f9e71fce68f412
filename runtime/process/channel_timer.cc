// SPDX-License-Identifier: MIT
#include "runtime/process/channel_timer.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "runtime/base/enough_memory.h"

namespace shoal::core {

Ref<ChannelTimer> ChannelTimer::Start(Machine& machine, Channel& channel, const KeyName& key,
                                      MessagePtr message, TimePoint first, Duration period) {
  Ref<ChannelTimer> timer;
  const bool made = EnoughMemory(
      [&] { timer = Ref<ChannelTimer>::Adopt(new ChannelTimer(machine, channel, key)); });
  if (!made || !timer->SetMessage(std::move(message), period)) return {};
  if (first == kNever) return timer;
  timer->next_ = first;
  // From here on it may fire, and end.
  channel.AddTimer();
  timer->AddRef();
  {
    MutexLock lock(timer->mu_);
    machine.expiries.Arm(*timer, first);
  }
  machine.NoteDeadline(first);
  return timer;
}

ChannelTimer::~ChannelTimer() {
  // It was never armed.
  if (beat_ && message_ != nullptr) message_->ForgetSelfReferences(channel_.get());
}

bool ChannelTimer::SetMessage(MessagePtr message, Duration period) {
  period_ = period;
  if (period == Duration::zero()) {
    message_ = std::move(message);
    return true;
  }
  beat_ = Ref<Beat>::Adopt(new (std::nothrow) Beat);
  if (!beat_) return false;
  const auto references = message->references();
  const std::unique_ptr<RefCounted*[]> with_beat(new (std::nothrow)
                                                     RefCounted*[references.size() + 1]);
  if (with_beat == nullptr) return false;
  std::copy(references.begin(), references.end(), with_beat.get());
  // Behind those that the bytes speak of.
  with_beat[references.size()] = beat_.get();
  message_ = Message::New(message->bytes(), {with_beat.get(), references.size() + 1});
  if (message_ == nullptr) return false;
  // Else the channel would never be forgotten.
  message_->ReleaseSelfReferences(channel_.get());
  return true;
}

bool ChannelTimer::Cancel() {
  State before;
  withdrawn_.store(true, std::memory_order_relaxed);
  {
    MutexLock lock(mu_);
    before = state_.exchange(State::kCancelled);
    if (before == State::kWaiting) TimerWheel::Disarm(*this);
  }
  // One that was never armed has nothing to end.
  if (before == State::kWaiting && next_ != kNever) End();
  return before == State::kWaiting || (before == State::kDue && period_ != Duration::zero());
}

bool ChannelTimer::OnDue() {
  State waiting = State::kWaiting;
  return state_.compare_exchange_strong(waiting, State::kDue);
}

void ChannelTimer::Fire() {
  const bool goes_on = Send();
  if (goes_on && Rearm()) return;
  // Who cancels it from here on finds that there is nothing to end.
  if (!goes_on) {
    MutexLock lock(mu_);
    if (state_.load() == State::kDue) state_.store(State::kEnded);
  }
  End();
}

MessagePtr ChannelTimer::NextMessage() const {
  return Message::New(message_->bytes(), message_->references());
}

bool ChannelTimer::Send() {
  const bool once = period_ == Duration::zero();
  if (!once && channel_->IsForgotten()) return false;
  // Those of the timer and of message_; only this thread could add another.
  if (!once && beat_->references() > 2) return true;
  MessagePtr message = once ? std::move(message_) : NextMessage();
  // Memory is short: perhaps it is not at the next beat.
  if (message == nullptr) return true;
  MessageList messages;
  messages.PushBack(std::move(message));
  // One that sends once has been asked too late.
  const std::atomic<bool>* withdrawn = once ? nullptr : &withdrawn_;
  return channel_->SendAnyway(key_.view(), messages, withdrawn) != Status::kClosed && !once;
}

bool ChannelTimer::Rearm() {
  if (machine_.expiries.ended()) return false;
  const TimePoint now = machine_.clock.Now();
  TimePoint next = DeadlineAfter(next_, period_);
  if (next == kNever) return false;
  // Beats whose time has passed are left out.
  if (next <= now) next += ((now - next) / period_ + 1) * period_;
  Machine& machine = machine_;
  {
    MutexLock lock(mu_);
    if (state_.load() == State::kCancelled) return false;
    next_ = next;
    state_.store(State::kWaiting);
    machine.expiries.Arm(*this, next);
  }
  // It may fire on another thread, end, and be freed.
  machine.NoteDeadline(next);
  return true;
}

void ChannelTimer::End() {
  Machine& machine = machine_;
  Ref<Channel> channel = std::move(channel_);
  if (beat_ && message_ != nullptr) message_->ForgetSelfReferences(channel.get());
  message_.reset();
  const bool last = channel->RemoveTimer();
  channel = {};
  Release();
  // Perhaps somebody waits in vain from now on.
  if (last && !machine.expiries.ended()) machine.scheduler.ReconsiderRest();
}

}  // namespace shoal::core
