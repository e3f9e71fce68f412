// SPDX-License-Identifier: MIT
// WaitReason says what a task waits for. Reports of deadlocks and hangs print it.
#pragma once

#include <cstdint>

namespace shoal::core {

enum class WaitReason : std::uint8_t {
  kNone,
  kReceive,      // for a message
  kSend,         // for room under a key
  kSelect,       // for the first of several things
  kQueueMemory,  // for room in the memory for queues
  kJoin,         // for the end of a process or task
  kSleep,        // for a time
  kIdle,         // for the end of all other processes
  kLoad,         // for a module that another task loads
  kExit,         // for the end of the program
  kReadable,     // for something to read
  kWritable,     // for room to write
  kAccept,       // for a connection from outside
  kConnect,      // for a connection to outside
  kBlocking,     // for a job of the blocking pool
};

// "receive", "send", …: static storage.
const char* ToString(WaitReason reason);

}  // namespace shoal::core
