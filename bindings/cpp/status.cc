// SPDX-License-Identifier: MIT
#include <shoal/status.h>

namespace shoal {

const char* ToString(Status status) noexcept {
  switch (status) {
    case Status::kOk:
      return "ok";
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
    case Status::kWrongType:
      return "wrong type";
    case Status::kError:
      return "error";
    case Status::kCancelled:
      return "cancelled";
    case Status::kDeadlock:
      return "deadlock";
    case Status::kMisuse:
      return "misuse";
    case Status::kNoMemory:
      return "not enough memory";
    case Status::kNoThread:
      return "cannot start a thread";
  }
  return "unknown";
}

}  // namespace shoal
