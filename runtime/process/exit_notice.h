// SPDX-License-Identifier: MIT
// The message that says how a process ended: its id, its status, and for an error the value.
//
// A process that fails encodes it itself, as its exit message: so a monitor of it sends a copy of
// the bytes, on whatever thread, without a lua_State.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/message/message.h"
#include "runtime/process/exit.h"

namespace shoal::core {

// The status in such a message, and what `p:status()` returns: "done", "error", "cancelled";
// nullptr for kNone.
const char* ToString(ExitKind kind);

// The number alone; nullptr if memory is short.
MessagePtr MakeNumberNotice(std::int64_t number);
// The whole, of a process that failed and has no state to encode its error in. The same.
MessagePtr MakeErrorNotice(std::uint64_t id, std::string_view text);
// The whole: `error` is the exit message of a process that failed, or null.
MessagePtr MakeExitNotice(std::uint64_t id, ExitKind kind, const Message* error);

}  // namespace shoal::core
