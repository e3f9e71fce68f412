// SPDX-License-Identifier: MIT
// Number is a Lua number outside Lua, for the atomic counters that stand in channels.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "runtime/message/message.h"

namespace shoal::core {

using Number = std::variant<std::int64_t, double>;

// Lua's `a + b`: integers wrap around, a float makes the sum a float.
Number Add(const Number& a, const Number& b);

// A message of that one number; nullptr if memory is short.
MessagePtr MakeNumberMessage(const Number& number);

// The number, if `message` is exactly one number.
std::optional<Number> NumberOf(const Message& message);

// Makes `message`, which is one number, another one. The footprint stays: counting up under a lock
// allocates nothing. REQUIRES: the caller owns it, and NumberOf(message).
void RewriteNumber(Message& message, const Number& number);

}  // namespace shoal::core
