// SPDX-License-Identifier: MIT
// The order in which locks may nest: a thread that holds a lock may take only locks of higher rank.
// Debug builds check it at each Lock(). Two locks of one rank are never held together.
#pragma once

#include <cstdint>

namespace shoal::core {

enum class LockRank : std::uint8_t {
  kLook = 5,  // who looks at waiting processes from outside
  kProcessTable = 10,
  kChannelRegistry = 20,
  kKeyShard = 30,  // the keys of one shard of a channel and all that stands under them
  kBudget = 40,    // senders that wait for queue memory
  kExit = 45,      // who waits for the end of a process or task
  kPolled = 47,    // the waits for one file descriptor, or for one blocking job
  kTimer = 48,     // a timer into a channel, between its wheel and who cancels it
  kWheel = 50,     // the timers of one worker
  kInject = 70,    // the inject queue
  kIdle = 80,      // parked and spare threads
  kLeaf = 255,     // nothing is locked while it is held
};

}  // namespace shoal::core
