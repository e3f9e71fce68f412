// SPDX-License-Identifier: MIT
#include "runtime/base/pin.h"

#include <catch2/catch.hpp>

#include "runtime/base/mutex.h"

namespace shoal::core {
namespace {

TEST_CASE("a thread is pinned while it holds a pin or a lock") {
  Mutex mutex(LockRank::kLeaf);
  CHECK_FALSE(Pin::IsHeld());
  {
    const Pin outer;
    {
      MutexLock lock(mutex);
      CHECK(Pin::IsHeld());
    }
    CHECK(Pin::IsHeld());
  }
  CHECK_FALSE(Pin::IsHeld());
  {
    MutexLock lock(mutex);
    CHECK(Pin::IsHeld());
  }
  CHECK_FALSE(Pin::IsHeld());
}

}  // namespace
}  // namespace shoal::core
