// SPDX-License-Identifier: MIT
#include "runtime/wait/wait_reason.h"

namespace shoal::core {

const char* ToString(WaitReason reason) {
  switch (reason) {
    case WaitReason::kNone:
      return "nothing";
    case WaitReason::kReceive:
      return "receive";
    case WaitReason::kSend:
      return "send";
    case WaitReason::kSelect:
      return "select";
    case WaitReason::kQueueMemory:
      return "queue memory";
    case WaitReason::kJoin:
      return "join";
    case WaitReason::kSleep:
      return "sleep";
    case WaitReason::kIdle:
      return "the end of all processes";
    case WaitReason::kLoad:
      return "require";
    case WaitReason::kExit:
      return "the end of the program";
    case WaitReason::kReadable:
      return "read";
    case WaitReason::kWritable:
      return "write";
    case WaitReason::kAccept:
      return "accept";
    case WaitReason::kConnect:
      return "connect";
    case WaitReason::kBlocking:
      return "a blocking call";
  }
  return "unknown";
}

}  // namespace shoal::core
