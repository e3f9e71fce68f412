// SPDX-License-Identifier: MIT
// Waits for jobs of the blocking pool; see descriptor_wait.h.
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/process/ends.h"

using shoal::test::RunResult;
using shoal::test::RunWithEnds;

TEST_CASE("a job of the blocking pool keeps no worker, and its result is received") {
  for (const int workers : {1, 2}) {
    const RunResult result = RunWithEnds(R"lua(
      local a, b = ends.pair()
      local job = shoal.task(function() return ends.block(a) end)
      local beats = 0
      for _ = 1, 10 do beats = beats + 1 shoal.sleep(0.001) end
      assert(job:status() == "waiting" and beats == 10)
      b:write("x")
      assert(job:result() == "x")
      -- Nothing else is there to wait for: that is no deadlock.
      shoal.spawn(function(p)
        require("shoal").sleep(0.005)
        require("ends").take(p):write("y")
      end, b:pass())
      assert(ends.block(a) == "y")
      -- Given up, the job goes on for nobody.
      assert(select(2, ends.block(a, 0.002)) == "timeout")
      b:write("z"))lua",
                                         {.workers = workers});
    CHECK(result.log == "");
    CHECK(result.status == 0);
    CHECK(result.clean);
  }
}

TEST_CASE("many jobs at a time get their own results") {
  const RunResult result = RunWithEnds(R"lua(
    local jobs = {}
    for i = 1, 100 do
      local a, b = ends.pair()
      jobs[i] = shoal.spawn(function(p) return require("ends").block(require("ends").take(p)) end, a:pass())
      shoal.task(function() b:write(string.char(i)) end)
    end
    for i = 1, 100 do assert(jobs[i]:result() == string.char(i)) end)lua");
  CHECK(result.log == "");
  CHECK(result.status == 0);
  CHECK(result.clean);
}

TEST_CASE("a job that hangs does not keep the program from its end") {
  int fds[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  const RunResult result = RunWithEnds("local a = ends.adopt(" + std::to_string(fds[0]) +
                                       ") shoal.task(function() ends.block(a) end) "
                                       "shoal.yield() os.exit(3, true)");
  CHECK(result.status == 3);
  CHECK(result.clean);
  // It ends when the runtime is gone.
  CHECK(::write(fds[1], "x", 1) == 1);
  ::close(fds[1]);
}
