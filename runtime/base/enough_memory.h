// SPDX-License-Identifier: MIT
// The containers and strings of the C++ library throw when memory is short. Here that becomes an
// outcome, as it is everywhere else; the exception goes no further.
//
// Threads: any.
#pragma once

#include <new>
#include <utility>

namespace shoal::core {

// Calls `work`. False if it ran out of memory: then what it has changed must not matter.
template <class Work>
[[nodiscard]] bool EnoughMemory(Work&& work) {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// A new T; nullptr if memory is short, also in its constructor.
template <class T, class... Arguments>
[[nodiscard]] T* TryNew(Arguments&&... arguments) {
  try {
    return new T(std::forward<Arguments>(arguments)...);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace shoal::core
