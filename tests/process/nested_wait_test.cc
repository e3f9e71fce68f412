// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "runtime/process/process.h"
#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

namespace {

// wait_in(f) calls f where Lua cannot yield.
const std::string kPrelude = R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local function wait_in(f)
      local result
      string.gsub("x", "x", function() result = f() end)
      return result
    end
)lua";

}  // namespace

TEST_CASE("a wait where Lua cannot yield runs the other tasks meanwhile") {
  const RunResult result = RunScript(kPrelude + R"lua(
    shoal.task(function() shoal.sleep(0.002) ch:send("k", 7) end)
    assert(wait_in(function() return (ch:receive("k")) end) == 7))lua",
                                     {.workers = 1});
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a thread blocked in such a wait gives its seat to other processes") {
  const RunResult result = RunScript(kPrelude + R"lua(
    local p = shoal.spawn(function(ch) ch:send("k", ch:receive("start") + 1) end, ch)
    ch:send("start", 1)
    assert(wait_in(function() return (ch:receive("k")) end) == 2))lua",
                                     {.workers = 1});
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("two such waits in one process end innermost first") {
  const RunResult result = RunScript(kPrelude + R"lua(
    local order = {}
    local t = shoal.task(function()
      wait_in(function()
        local name = ch:receive("inner")
        order[#order + 1] = name
      end)
    end)
    shoal.task(function() ch:send("outer", "outer") shoal.sleep(0.002) ch:send("inner", "inner") end)
    wait_in(function()
      local name = ch:receive("outer")
      order[#order + 1] = name
    end)
    t:join()
    assert(order[1] == "inner" and order[2] == "outer"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a timeout ends such a wait") {
  const RunResult result = RunScript(kPrelude + R"lua(
    local why = wait_in(function() return (select(2, ch:receive("never", 0.002))) end)
    assert(why == "timeout"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("too many such waits in one process are an error, and the process goes on") {
  const RunResult result = RunScript(kPrelude + R"lua(
    local failed = 0
    local tasks = {}
    for i = 1, 40 do
      tasks[i] = shoal.task(function()
        local ok, err = pcall(wait_in, function() return (ch:receive("go")) end)
        if not ok then assert(err:find("too many waits")) failed = failed + 1 end
      end)
    end
    shoal.sleep(0.005)
    for i = 1, 40 do ch:send("go", i) end
    for _, t in ipairs(tasks) do t:result() end
    assert(failed > 0 and failed < 40))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("no more threads are blocked in such waits than allowed") {
  const RunResult result = RunScript(kPrelude + R"lua(
    local function body(ch, wait_in)
      local ok, err = pcall(wait_in, function() return (ch:receive("go")) end)
      return ok or err
    end
    local ps = {}
    for i = 1, 4 do ps[i] = shoal.spawn(body, ch, wait_in) end
    for i = 1, 4 do
      while ps[i]:status() ~= "waiting" and ps[i]:status() ~= "done" do shoal.sleep(0.001) end
    end
    for i = 1, 4 do ch:send("go", i) end
    local failed = 0
    for _, p in ipairs(ps) do
      local outcome = p:result()
      if outcome ~= true then assert(outcome:find("too many waits")) failed = failed + 1 end
    end
    assert(failed == 2))lua",
                                     {.max_blocked_threads = 2});
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a process that is blocked in such a wait can be cancelled") {
  const RunResult result = RunScript(kPrelude + R"lua(
    local p = shoal.spawn(function(ch, wait_in)
      ch:send("ready", 1)
      wait_in(function() ch:receive("never") end)
    end, ch, wait_in)
    ch:receive("ready")
    do local scope <close> = p end
    assert(p:status() == "cancelled"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
