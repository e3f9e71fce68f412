// SPDX-License-Identifier: MIT
// What malloc does with memory that was freed, in programs that are all ours.
//
// Threads: the main thread, before there are others.
#pragma once

namespace shoal::core {

// A message of a megabyte is two blocks of that size, which are freed soon after. The C library
// would give their pages back each time, and take them anew, which costs four times as much as the
// copies. From now on up to 16 MB stay at the end of each of its arenas (there is about one for
// each worker). What the environment says of that (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_,
// …) comes first.
void KeepFreedMemory();

}  // namespace shoal::core
