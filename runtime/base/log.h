// SPDX-License-Identifier: MIT
// Log is where reports for people go: errors that nobody joined, deadlocks. Injected by the host.
#pragma once

#include <cstdint>
#include <string_view>

namespace shoal::core {

enum class LogLevel : std::uint8_t { kOff, kError, kWarning, kNotice };

// Threads: any thread may call any member.
class Log {
 public:
  virtual ~Log() = default;
  // One report; lines are separated by '\n', the last one has none. Must not call the runtime.
  virtual void Write(LogLevel level, std::string_view text) = 0;
};

}  // namespace shoal::core
