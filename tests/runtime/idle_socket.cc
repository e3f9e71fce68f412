// SPDX-License-Identifier: MIT
// A program for idle_test.sh: processes that wait for sockets, with and without a far deadline.
#include <cstdio>

#include "tests/process/ends.h"

int main() {
  const auto result = shoal::test::RunWithEnds(R"lua(
    local function wait(p, timeout) require("ends").take(p):read(timeout) end
    local kept = {}
    for i = 1, 20 do
      local a, b = ends.pair()
      shoal.spawn(wait, a:pass(), i % 2 == 0 and 3600 or nil)
      kept[i] = b
    end
    -- Some work first, so that all threads have run.
    local a, b = ends.pair()
    shoal.task(function() for text in function() return b:read() end do b:write(text) end end)
    for i = 1, 1000 do
      a:write("x")
      a:read()
    end
    print("waits")
    io.stdout:flush()
    a:read())lua");
  std::fputs(result.log.c_str(), stderr);
  return result.status;
}
