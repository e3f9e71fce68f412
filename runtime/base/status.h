// SPDX-License-Identifier: MIT
// Status is the outcome of an operation that can end in more than one expected way.
#pragma once

#include <cstdint>

namespace shoal::core {

enum class [[nodiscard]] Status : std::uint8_t{
    kOk,
    kPending,      // a waiter was registered; its completion brings the outcome
    kTimeout,      // the deadline passed first
    kClosed,       // the channel or the key is closed
    kFull,         // the key is at its limit, or the memory for queues is used up
    kEmpty,        // nothing (or less than asked for) stands there
    kExists,       // something stands there already
    kNotFound,     // no such thing
    kNotNumber,    // the key does not hold exactly one message of one number
    kCancelled,    // the task was asked to end
    kDeadlock,     // nothing that could complete this wait can run any more
    kInterrupted,  // a hook has raised an error instead
    kNoMemory,     // the allocator refused
    kNoThread,     // the system refused another thread
};

// The word for `status` that logs and Lua use: "timeout", "closed", … Static storage.
const char* ToString(Status status);

}  // namespace shoal::core
