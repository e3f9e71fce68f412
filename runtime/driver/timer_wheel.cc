// SPDX-License-Identifier: MIT
#include "runtime/driver/timer_wheel.h"

#include <algorithm>
#include <bit>

#include "runtime/base/check.h"
#include "runtime/base/test_point.h"

namespace shoal::core {

namespace {
constexpr Duration::rep kNanosecondsInTick = 1'000'000;

// The time of `tick`; kNever beyond the end of time.
Duration::rep NanosecondsAt(std::uint64_t tick) {
  constexpr Duration::rep kEnd = kNever.time_since_epoch().count();
  constexpr auto kLastTick = static_cast<std::uint64_t>(kEnd / kNanosecondsInTick);
  return tick <= kLastTick ? static_cast<Duration::rep>(tick) * kNanosecondsInTick : kEnd;
}
}  // namespace

TimerWheel::TimerWheel(TimePoint start)
    : elapsed_(static_cast<Tick>(start.time_since_epoch().count() / kNanosecondsInTick)) {}

// Places ------------------------------------------------------------------------------------------

TimerWheel::Tick TimerWheel::TickOf(const TimerNode& node) {
  // Rounded up, so that no timer fires early.
  const Duration::rep nanoseconds = node.deadline_.time_since_epoch().count();
  const Duration::rep ticks = nanoseconds / kNanosecondsInTick;
  return static_cast<Tick>(ticks + (nanoseconds % kNanosecondsInTick != 0 ? 1 : 0));
}

TimerWheel::Place TimerWheel::PlaceOf(Tick tick) const {
  const Tick differing = tick ^ elapsed_;
  const int level = differing == 0 ? 0 : (std::bit_width(differing) - 1) / kBits;
  if (level >= kLevels) return {.level = kLevels, .slot = 0};
  return {.level = level, .slot = static_cast<int>(tick >> (level * kBits) & (kSlots - 1))};
}

TimerWheel::Slot& TimerWheel::SlotAt(Place place) {
  return place.level == kLevels ? far_ : slots_[place.level][place.slot];
}

void TimerWheel::Insert(TimerNode& node) {
  const Place place = PlaceOf(TickOf(node));
  SlotAt(place).PushBack(node);
  if (place.level < kLevels) occupied_[place.level] |= std::uint64_t{1} << place.slot;
}

void TimerWheel::Remove(TimerNode& node) {
  const Place place = PlaceOf(TickOf(node));
  node.Unlink();
  if (place.level < kLevels && SlotAt(place).empty()) {
    occupied_[place.level] &= ~(std::uint64_t{1} << place.slot);
  }
}

bool TimerWheel::FindExpiry(Expiry* expiry) const {
  // All nodes of a level come before those of the next: they agree with elapsed_ in a digit more.
  // Within a level, no slot before the digit of elapsed_ is occupied.
  for (int level = 0; level < kLevels; ++level) {
    if (occupied_[level] == 0) continue;
    const int slot = std::countr_zero(occupied_[level]);
    const int shift = level * kBits;
    const Tick above = elapsed_ >> (shift + kBits) << (shift + kBits);
    *expiry = {.place = {.level = level, .slot = slot},
               .tick = above | static_cast<Tick>(slot) << shift};
    return true;
  }
  constexpr int kFarShift = kLevels * kBits;
  *expiry = {.place = {.level = kLevels, .slot = 0},
             .tick = ((elapsed_ >> kFarShift) + 1) << kFarShift};
  return !far_.empty();
}

void TimerWheel::PublishNext() {
  Expiry expiry;
  next_.store(FindExpiry(&expiry) ? NanosecondsAt(expiry.tick) : kNever.time_since_epoch().count());
}

// Arm and Disarm ----------------------------------------------------------------------------------

void TimerWheel::Arm(TimerNode& node, TimePoint deadline) {
  if (deadline == kNever) return;
  SHOAL_DCHECK(!node.linked());
  node.wheel_ = this;
  MutexLock lock(mu_);
  // What has passed is due at the next tick: the place of a node follows from a tick to come.
  node.deadline_ = std::max(deadline, TimePoint(Duration(NanosecondsAt(elapsed_ + 1))));
  Insert(node);
  armed_.fetch_add(1);
  const Duration::rep due = NanosecondsAt(TickOf(node));
  if (due < next_.load(std::memory_order_relaxed)) next_.store(due);
}

void TimerWheel::Disarm(TimerNode& node) {
  TimerWheel* wheel = node.wheel_;
  if (wheel == nullptr) return;
  node.wheel_ = nullptr;
  MutexLock lock(wheel->mu_);
  if (!node.linked()) return;  // it has come due
  wheel->Remove(node);
  // next_ may be too early now: Advance corrects it. But nobody has to wake up for nothing at all.
  if (wheel->armed_.fetch_sub(1) == 1) wheel->PublishNext();
}

// Time --------------------------------------------------------------------------------------------

int TimerWheel::Advance(TimePoint now) {
  const auto tick = static_cast<Tick>(now.time_since_epoch().count() / kNanosecondsInTick);
  int fired = 0;
  for (;;) {
    TimerNode* due[kBatch];
    int count;
    {
      MutexLock lock(mu_);
      count = DetachDue(tick, due);
    }
    SHOAL_TEST_POINT("timer_wheel.detached");
    for (int i = 0; i < count; ++i) due[i]->Fire();
    // Not before: who looks whether anything is armed, then whether anything is ready, must not
    // find neither.
    if (count != 0) armed_.fetch_sub(count);
    fired += count;
    if (count < kBatch) return fired;
  }
}

int TimerWheel::DetachDue(Tick now, TimerNode** due) {
  int count = 0;
  Expiry expiry;
  while (count < kBatch && FindExpiry(&expiry) && expiry.tick <= now) {
    elapsed_ = expiry.tick;
    if (expiry.place.level != 0) {
      Cascade(expiry.place);
      continue;
    }
    TimerNode& node = SlotAt(expiry.place).front();
    Remove(node);
    if (node.OnDue()) {
      due[count++] = &node;
    } else {
      armed_.fetch_sub(1);
    }
  }
  // Only if nothing due is left; not backwards for a caller whose clock reading is older.
  if (count < kBatch) elapsed_ = std::max(elapsed_, now);
  PublishNext();
  return count;
}

void TimerWheel::Cascade(Place place) {
  Slot& slot = SlotAt(place);
  if (place.level < kLevels) occupied_[place.level] &= ~(std::uint64_t{1} << place.slot);
  // Only so many as stand here now: what is still far comes to the same list again.
  Slot moving;
  while (TimerNode* node = slot.PopFront()) moving.PushBack(*node);
  while (TimerNode* node = moving.PopFront()) Insert(*node);
}

}  // namespace shoal::core
