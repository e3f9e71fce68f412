// SPDX-License-Identifier: MIT
/// \file
/// What Runtime::RunFor takes and returns.
#pragma once

#include <cstdint>

namespace shoal {

/// What is left when a thread of the program has run processes.
enum class RunState : std::uint8_t {
  kReady,    ///< The time is up, and some process can go on.
  kWaiting,  ///< None can: they wait for time, messages, sockets, or calls that complete later.
  kEmpty,    ///< There are no processes.
  kBusy,     ///< Another thread is in RunFor: nothing was done.
};

/// What RunFor does when no process can go on before its time is up.
enum class WhenIdle : std::uint8_t {
  kReturn,  ///< It returns.
  kSleep,   ///< It sleeps until one can; and returns when there are no processes.
};

}  // namespace shoal
