// SPDX-License-Identifier: MIT
// Broken invariants end the program with a sentence: SHOAL_CHECK always, SHOAL_DCHECK in debug
// builds.
//
// They are for mistakes in Shoal itself. What a script or a host can cause is a Status.
#pragma once

namespace shoal::core {

// Prints `file:line: check failed: condition` to stderr and aborts. Any thread.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace shoal::core

#define SHOAL_CHECK(condition)                                                                    \
  (__builtin_expect(!(condition), 0) ? ::shoal::core::CheckFailed(__FILE__, __LINE__, #condition) \
                                     : static_cast<void>(0))

#ifdef NDEBUG
#define SHOAL_DCHECK(condition) static_cast<void>(sizeof(condition))
#else
#define SHOAL_DCHECK(condition) SHOAL_CHECK(condition)
#endif
