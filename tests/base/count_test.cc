// SPDX-License-Identifier: MIT
#include "runtime/base/count.h"

#include <catch2/catch.hpp>

namespace shoal::core {

TEST_CASE("a count is the sum of what was added") {
  Count count;
  CHECK(count.value() == 0);
  count.Add();
  count.Add(41);
  count.Add(0);
  CHECK(count.value() == 42);
}

}  // namespace shoal::core
