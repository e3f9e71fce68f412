// SPDX-License-Identifier: MIT
#include "runtime/base/status.h"

namespace shoal::core {

const char* ToString(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kPending:
      return "pending";
    case Status::kTimeout:
      return "timeout";
    case Status::kClosed:
      return "closed";
    case Status::kFull:
      return "full";
    case Status::kEmpty:
      return "empty";
    case Status::kExists:
      return "exists";
    case Status::kNotFound:
      return "not found";
    case Status::kNotNumber:
      return "not a number";
    case Status::kCancelled:
      return "cancelled";
    case Status::kDeadlock:
      return "deadlock";
    case Status::kInterrupted:
      return "interrupted";
    case Status::kNoMemory:
      return "not enough memory";
    case Status::kNoThread:
      return "cannot start a thread";
  }
  return "unknown";
}

}  // namespace shoal::core
