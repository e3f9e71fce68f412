// SPDX-License-Identifier: MIT
#include "runtime/driver/poller.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/futex.h"
#include "runtime/base/test_point.h"

namespace shoal::core {

namespace {

constexpr std::uint32_t kEndEvents = EPOLLHUP | EPOLLERR;  // reported unasked

constexpr std::uint32_t EventsOf(Direction direction) {
  return direction == Direction::kRead ? EPOLLIN | EPOLLRDHUP : EPOLLOUT;
}

// epoll_wait till `deadline`.
int WaitUntil(int epoll_fd, epoll_event* events, int size, TimePoint deadline) {
  if (deadline == kNever) return epoll_wait(epoll_fd, events, size, -1);
  const Duration left =
      std::max(deadline - TimePoint(std::chrono::steady_clock::now()), Duration::zero());
  timespec timeout{};
  timeout.tv_sec = left.count() / 1'000'000'000;
  timeout.tv_nsec = left.count() % 1'000'000'000;
  const int count = epoll_pwait2(epoll_fd, events, size, &timeout, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  // A system before Linux 5.11: late by a millisecond at most.
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return epoll_wait(epoll_fd, events, size,
                    static_cast<int>(std::min<std::int64_t>(milliseconds, INT_MAX)));
}

}  // namespace

Poller::Poller(const Clock& clock, int workers)
    : clock_(clock), workers_(new PerWorker[static_cast<std::size_t>(workers)]) {}

Poller::~Poller() {
  SHOAL_DCHECK(armed_.load() == 0);
  if (epoll_fd_.load() < 0) return;
  ::close(epoll_fd_.load());
  ::close(event_fd_);
}

bool Poller::Open() {
  // acquire: pairs with the release below.
  if (epoll_fd_.load(std::memory_order_acquire) >= 0) return true;
  MutexLock lock(mu_);
  if (epoll_fd_.load(std::memory_order_relaxed) >= 0) return true;
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd < 0) return false;
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  // Its edges are enough: nobody needs to read it.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = kInterruptMark}};
  if (event_fd_ < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd_, &event) != 0) {
    const int error = errno;
    if (event_fd_ >= 0) ::close(event_fd_);
    ::close(epoll_fd);
    errno = error;
    return false;
  }
  epoll_fd_.store(epoll_fd, std::memory_order_release);
  return true;
}

// Registration ------------------------------------------------------------------------------------

bool Poller::Control(int operation, PollSlot& slot, std::uint32_t interest) {
  epoll_event event{.events = interest | EPOLLET,
                    .data = {.u64 = std::uint64_t{slot.generation} << 32 | slot.index}};
  if (epoll_ctl(epoll_fd_.load(std::memory_order_relaxed), operation, slot.fd, &event) != 0) {
    return false;
  }
  slot.interest = interest;
  return true;
}

Status Poller::Watch(PollSlot& slot, Direction direction) {
  const std::uint32_t wanted = EventsOf(direction);
  if ((slot.interest & wanted) == wanted) return Status::kPending;
  // Either operation also reports what is ready already.
  const int operation = slot.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (!Control(operation, slot, slot.interest | wanted)) {
    // EPERM: a plain file.
    return errno == EPERM ? Status::kOk : Status::kNoMemory;
  }
  if (slot.registered) return Status::kPending;
  slot.registered = true;
  registered_.fetch_add(1);
  SHOAL_TEST_POINT("poller.registered");
  if (sleeper_.load() == kOnFutex) Interrupt();
  return Status::kPending;
}

void Poller::Forget(PollSlot& slot) {
  if (slot.registered) {
    epoll_ctl(epoll_fd_.load(std::memory_order_relaxed), EPOLL_CTL_DEL, slot.fd, nullptr);
    registered_.fetch_sub(1);
  }
  ++slot.generation;
  slot.fd = -1;
  slot.registered = false;
  slot.interest = 0;
  slot.ready[0] = slot.ready[1] = false;
}

// Events ------------------------------------------------------------------------------------------

int Poller::Complete(PollSlot& slot, Direction direction, WakeList& woken) {
  auto& waits = slot.waits[static_cast<int>(direction)];
  int completed = 0;
  WaitNode* next = nullptr;
  for (WaitNode* node = waits.empty() ? nullptr : &waits.front(); node != nullptr; node = next) {
    next = waits.Next(*node);
    // Claimed by something else, or through another node here: its owner withdraws it.
    if (!node->waiter->TryClaim()) continue;
    node->Unlink();
    node->waiter->SetOutcome(Status::kOk, node->index);
    woken.Add(*node->waiter);
    ++completed;
  }
  return completed;
}

int Poller::TakeEvent(const epoll_event& event, WakeList& woken) {
  PollSlot& slot = slots_.At(static_cast<std::uint32_t>(event.data.u64));
  SHOAL_TEST_POINT("poller.fetched");
  MutexLock lock(slot.mu);
  // Closed since.
  if (slot.generation != static_cast<std::uint32_t>(event.data.u64 >> 32)) return 0;
  int completed = 0;
  std::uint32_t interest = slot.interest;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    if ((event.events & (EventsOf(direction) | kEndEvents)) == 0) continue;
    const int told = Complete(slot, direction, woken);
    completed += told;
    if (told > 0) continue;
    // The second edge that nobody waits for is the last one that is told, until somebody waits
    // again: each datagram that leaves, and each message that the other end of a Unix socket takes,
    // is one.
    bool& ready = slot.ready[static_cast<int>(direction)];
    if (ready) interest &= ~EventsOf(direction);
    ready = true;
  }
  if (interest != slot.interest) static_cast<void>(Control(EPOLL_CTL_MOD, slot, interest));
  return completed;
}

int Poller::Take(const epoll_event* events, int count, WakeList& woken, By by) {
  int completed = 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.u64 != kInterruptMark) {
      completed += TakeEvent(events[i], woken);
    } else if (by == By::kOther && sleeper_.load() == kInterrupted) {
      // It may be meant for somebody who has gone to sleep just now, and does not see this edge.
      WakeFromEpoll();
    }
  }
  return completed;
}

// Looks and sleeps --------------------------------------------------------------------------------

int Poller::Poll() {
  if (!Armed()) return 0;
  WakeList woken;
  int count = 0;
  // 1 What the sleeper has found.
  {
    MutexLock lock(mu_);
    woken.Take(found_);
    count = std::exchange(found_count_, 0);
  }
  // 2 What else there is.
  const bool fetched = fetched_.exchange(false, std::memory_order_relaxed);
  if (count == 0 && !fetched && sleeper_.load() != kInEpoll) {
    epoll_event events[kBatch];
    count = Take(events, epoll_wait(epoll_fd_.load(), events, kBatch, 0), woken, By::kOther);
  }
  // 3 Tell them, and then only count them as told.
  woken.Flush();
  if (count > 0) EndWaits(count);
  return count;
}

void Poller::TurnArmed(PerWorker& mine) {
  if (--mine.left > 0) return;
  Poll();
  // So many turns take about kTurnsTime. A reading of the clock for each would cost too much.
  const TimePoint now = clock_.Now();
  const Duration::rep passed = std::max<Duration::rep>((now - mine.looked_at).count(), 1);
  mine.period = static_cast<int>(
      std::clamp<Duration::rep>(mine.period * kTurnsTime.count() / passed, 1, kTurns));
  mine.left = mine.period;
  mine.looked_at = now;
}

void Poller::Sleep(TimePoint deadline) {
  for (;;) {
    // 1 Where.
    const std::uint32_t place = registered_.load() == 0 ? kOnFutex : kInEpoll;
    SHOAL_TEST_POINT("poller.place_chosen");
    std::uint32_t seen = kAwake;
    if (!sleeper_.compare_exchange_strong(seen, place)) break;  // interrupted
    SHOAL_TEST_POINT("poller.place_said");
    if (place == kInEpoll) {
      SleepInEpoll(deadline);
      break;
    }
    // 2 Whoever has registered something since has seen it, or is seen here.
    if (registered_.load() == 0) {
      FutexWait(sleeper_, kOnFutex, deadline);
      break;
    }
    seen = kOnFutex;
    if (!sleeper_.compare_exchange_strong(seen, kAwake)) break;
  }
  sleeper_.store(kAwake);
}

void Poller::SleepInEpoll(TimePoint deadline) {
  epoll_event events[kBatch];
  const int fetched = WaitUntil(epoll_fd_.load(), events, kBatch, deadline);
  WakeList woken;
  const int count = Take(events, fetched, woken, By::kSleeper);
  fetched_.store(true, std::memory_order_relaxed);
  if (count == 0) return;
  MutexLock lock(mu_);
  found_.Take(woken);
  found_count_ += count;
}

void Poller::Interrupt() {
  const std::uint32_t before = sleeper_.exchange(kInterrupted);
  if (before == kOnFutex) FutexWake(sleeper_, 1);
  if (before == kInEpoll) WakeFromEpoll();
}

void Poller::WakeFromEpoll() {
  const std::uint64_t one = 1;
  // It fails only if the count is full, after 500 years.
  static_cast<void>(::write(event_fd_, &one, sizeof one) == sizeof one);
}

}  // namespace shoal::core
