// SPDX-License-Identifier: MIT
// The program's reports go to stderr, each in one piece with the program's name in front.
#pragma once

#include <string_view>

#include "runtime/base/log.h"

namespace shoal::bindings {

// The name in front of all messages.
inline constexpr char kProgramName[] = "shoal";

// Writes `text` and a newline to stderr in one piece. Any thread.
void WriteToStderr(std::string_view text);

class StderrLog final : public core::Log {
 public:
  // Reports beyond `most` are dropped.
  explicit StderrLog(core::LogLevel most) : most_(most) {}
  void Write(core::LogLevel level, std::string_view text) override;

 private:
  const core::LogLevel most_;
};

}  // namespace shoal::bindings
