// SPDX-License-Identifier: MIT
/// \file
/// Status says how a call has ended.
#pragma once

#include <cstdint>

namespace shoal {

/// How a call has ended. All but kOk and kMisuse are things that may happen in a correct program.
enum class [[nodiscard]] Status : std::uint8_t{
    kOk,
    kTimeout,    ///< The time was over first.
    kClosed,     ///< The channel or key is closed, or the runtime has ended.
    kFull,       ///< The key is at its limit, or the memory for queues is used up.
    kEmpty,      ///< Nothing stands there.
    kExists,     ///< Something stands there, or has that name, already.
    kNotFound,   ///< There is no such thing.
    kNotNumber,  ///< The key does not hold exactly one message of one number.
    kWrongType,  ///< The values are not of the types that were asked for.
    kError,      ///< Lua code has raised an error: see Error.
    kCancelled,  ///< It was asked to end.
    kDeadlock,   ///< Nothing that could end this wait can run any more.
    kMisuse,     ///< The call is wrong as it stands; the message says what to change.
    kNoMemory,   ///< Memory is short.
    kNoThread,   ///< The system refuses another thread.
};

/// The word for `status`: "ok", "timeout", "closed", … Static storage.
[[nodiscard]] const char* ToString(Status status) noexcept;

}  // namespace shoal
