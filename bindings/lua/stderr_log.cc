// SPDX-License-Identifier: MIT
#include "bindings/lua/stderr_log.h"

#include <cstdio>
#include <string>

#include "runtime/base/enough_memory.h"

namespace shoal::bindings {

namespace {

// By the stream, so that it keeps its place among what scripts write to `io.stderr`.
void WriteLine(std::string_view prefix, std::string_view text) {
  std::string line;
  const bool enough = core::EnoughMemory([&] {
    line.reserve(prefix.size() + text.size() + 1);
    line.append(prefix).append(text).append("\n");
  });
  // A report may be that memory is short: then without the prefix, and the rest in two pieces.
  const std::string_view first = enough ? line : text;
  std::fwrite(first.data(), 1, first.size(), stderr);
  if (!enough) std::fputc('\n', stderr);
  std::fflush(stderr);
}

}  // namespace

void WriteToStderr(std::string_view text) { WriteLine("", text); }

void StderrLog::Write(core::LogLevel level, std::string_view text) {
  if (level > most_) return;
  const std::string prefix = std::string(kProgramName) + ": ";  // short: takes no memory
  WriteLine(prefix, text);
}

}  // namespace shoal::bindings
