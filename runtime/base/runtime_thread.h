// SPDX-License-Identifier: MIT
// Whether the calling thread is one on which processes run. Such a thread runs only states that the
// runtime has made; a host's thread, only those of hosts.
//
// Threads: concerns the calling thread only.
#pragma once

#include <cstdint>
#include <utility>

namespace shoal::core {

class RuntimeThread {
 public:
  enum class Kind : std::uint8_t { kOther, kRuntime };

  // A scheduler, before the thread runs anything. Returns what the thread was: one that is the
  // host's becomes that again.
  static Kind Exchange(Kind kind) { return std::exchange(kind_, kind); }
  [[nodiscard]] static bool IsCurrent() { return kind_ == Kind::kRuntime; }

 private:
  static inline constinit thread_local Kind kind_ = Kind::kOther;
};

}  // namespace shoal::core
