// SPDX-License-Identifier: MIT
// Names for clang's thread safety attributes; nothing for other compilers.
// See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html.
#pragma once

#if defined(__clang__)
#define SHOAL_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define SHOAL_THREAD_ATTRIBUTE(x)
#endif

#define SHOAL_CAPABILITY(x) SHOAL_THREAD_ATTRIBUTE(capability(x))
#define SHOAL_SCOPED_CAPABILITY SHOAL_THREAD_ATTRIBUTE(scoped_lockable)
#define SHOAL_GUARDED_BY(x) SHOAL_THREAD_ATTRIBUTE(guarded_by(x))
#define SHOAL_ACQUIRE(...) SHOAL_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define SHOAL_RELEASE(...) SHOAL_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define SHOAL_TRY_ACQUIRE(...) SHOAL_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define SHOAL_REQUIRES_LOCK(...) SHOAL_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define SHOAL_EXCLUDES_LOCK(...) SHOAL_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define SHOAL_NO_THREAD_ANALYSIS SHOAL_THREAD_ATTRIBUTE(no_thread_safety_analysis)
