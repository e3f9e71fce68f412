// SPDX-License-Identifier: MIT
#include "runtime/process/host_seat.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ctime>

#include "runtime/base/check.h"

namespace shoal::core {

HostSeat::~HostSeat() {
  if (event_fd_ >= 0) ::close(event_fd_);
}

Status HostSeat::Open() {
  sigfillset(&all_);
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return event_fd_ >= 0 ? Status::kOk : Status::kNoMemory;
}

void HostSeat::Wake() {
  Activate();
  if (word_.exchange(kToken, std::memory_order_acq_rel) != kAsleep) return;
  // The sleeper waits for this, so the seat is still there.
  const std::uint64_t one = 1;
  static_cast<void>(::write(event_fd_, &one, sizeof one) == sizeof one);
}

HostSeat::Woken HostSeat::Sleep(Duration most) {
  std::uint32_t seen = kEmpty;
  // acquire, here and below: pairs with Wake.
  if (word_.compare_exchange_strong(seen, kAsleep, std::memory_order_acquire)) {
    pollfd event{.fd = event_fd_, .events = POLLIN, .revents = 0};
    timespec timeout{};
    timeout.tv_sec = most.count() / 1'000'000'000;
    timeout.tv_nsec = most.count() % 1'000'000'000;
    static_cast<void>(ppoll(&event, 1, most == Duration::max() ? nullptr : &timeout, &before_));
    seen = kAsleep;
    if (word_.compare_exchange_strong(seen, kEmpty, std::memory_order_acquire)) return Woken::kElse;
    // The write that belongs to the token comes, if it has not yet.
    std::uint64_t count = 0;
    while (::read(event_fd_, &count, sizeof count) < 0) {
      pollfd again{.fd = event_fd_, .events = POLLIN, .revents = 0};
      static_cast<void>(poll(&again, 1, -1));
    }
  }
  word_.store(kEmpty, std::memory_order_relaxed);
  return Woken::kByWake;
}

}  // namespace shoal::core
