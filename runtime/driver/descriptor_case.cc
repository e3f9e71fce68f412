// SPDX-License-Identifier: MIT
#include "runtime/driver/descriptor_case.h"

#include <poll.h>

#include <cerrno>

namespace shoal::core {

namespace {

Attempt AttemptOf(Status status) {
  switch (status) {
    case Status::kClosed:
      return Attempt::kClosed;
    case Status::kNoMemory:
      return Attempt::kNoMemory;
    default:
      return Attempt::kHappened;
  }
}

}  // namespace

Status DescriptorCase::Look() const {
  const int fd = descriptor_.fd();
  if (fd < 0) return Status::kClosed;
  pollfd look{fd, static_cast<short>(direction_ == Direction::kRead ? POLLIN : POLLOUT), 0};
  int ready = 0;
  do {
    ready = poll(&look, 1, 0);
  } while (ready < 0 && errno == EINTR);
  // If it cannot be looked at (ENOMEM), the caller's own call will tell.
  return ready == 0 ? Status::kEmpty : Status::kOk;
}

Status DescriptorCase::Try(WaitNode&) { return Look(); }

Attempt DescriptorCase::Publish(WaitNode& node) {
  for (;;) {
    Status status = descriptor_.Await(node, direction_);
    if (status == Status::kPending) return Attempt::kPublished;
    // It was kept from before the last look, or has come since.
    if (status == Status::kOk) status = Look();
    if (status == Status::kEmpty) continue;
    return node.waiter->TryClaim() ? AttemptOf(status) : Attempt::kCompleted;
  }
}

Status DescriptorCase::Completed(WaitNode&, Status outcome) {
  return outcome == Status::kOk ? Look() : outcome;
}

}  // namespace shoal::core
