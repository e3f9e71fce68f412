// SPDX-License-Identifier: MIT
#include <shoal/timer.h>

#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/outcome.h"
#include "bindings/cpp/value_writer.h"
#include "runtime/process/channel_timer.h"

namespace shoal {

bool Timer::Cancel() const noexcept {
  if (timer_.cell() == nullptr) return false;
  const embed::Entry entry(timer_, Handle::Kind::kOther);
  return entry && entry.object<core::ChannelTimer>().Cancel();
}

namespace embed {

Result<Timer> StartTimer(Timeout time, bool again, const Channel& channel, const Key& key,
                         std::span<const Value> values) noexcept {
  Error error = CheckTimeout(time);
  if (error.status() == Status::kOk && again && time.time() == core::Duration::zero()) {
    error = Error(Status::kMisuse, "the period of a timer must be larger than 0");
  }
  if (error.status() != Status::kOk) return error;
  const Entry entry(channel, Handle::Kind::kChannel);
  if (!entry) return entry.error();
  core::KeyName name = core::KeyName::Boolean(false);
  error = ToKeyName(key, entry.gate(), &name);
  if (error.status() != Status::kOk) return error;
  if (values.empty() || values[0].is_nil()) {
    return Error(Status::kMisuse, "the first value of a message must not be nil");
  }
  core::MessagePtr message = EncodeValues(values, entry.gate(), &error);
  if (message == nullptr) return error;
  const bool never = time.time() == core::Duration::max();
  const core::TimePoint first =
      never ? core::kNever : core::DeadlineAfter(entry.machine().clock.Now(), time.time());
  core::Ref<core::ChannelTimer> timer = core::ChannelTimer::Start(
      entry.machine(), entry.object<core::Channel>(), name, std::move(message), first,
      again && !never ? time.time() : core::Duration::zero());
  if (!timer) return Status::kNoMemory;
  Handle handle = Cell::MakeHandle(entry.gate(), core::Ref<core::RefCounted>::Share(timer.get()));
  if (!handle) {
    // Nobody could cancel it.
    timer->Cancel();
    return Status::kNoMemory;
  }
  return Timer(std::move(handle));
}

}  // namespace embed

}  // namespace shoal
