// SPDX-License-Identifier: MIT
#include "runtime/process/suspend.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("a wait suspends only its task, however deep in coroutines it is made") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local beats = 0
    local other = shoal.task(function() for i = 1, 3 do beats = beats + 1 shoal.sleep(0.001) end end)
    local function deep(n)
      if n == 0 then return (ch:receive("k", 0.05)) end
      return coroutine.wrap(function() return deep(n - 1) end)()
    end
    shoal.task(function() other:join() ch:send("k", "value") end)
    assert(deep(3) == "value")
    assert(beats == 3))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a process that makes many calls lets the others have their turn") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local p = shoal.spawn(function(ch) ch:set("ran", true) end, ch)
    while not ch:get("ran") do end
    p:join())lua",
                                     {.workers = 1});
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("calls that do not wait never switch tasks") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local ran = false
    shoal.task(function() ran = true end)
    for i = 1, 10000 do ch:set("k", i) assert(ch:get("k") == i) end
    assert(not ran)
    shoal.yield()
    assert(ran))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a cancelled wait raises, pcall does not swallow it, and cleanup may wait") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local p = shoal.spawn(function(ch)
      local s = require "shoal"
      local x <close> = setmetatable({}, { __close = function()
        s.sleep(0.001)
        ch:send("cleaned", true)
      end })
      ch:send("ready", true)
      while true do pcall(ch.receive, ch, "never") end
    end, ch)
    ch:receive("ready")
    do local scope <close> = p end
    assert(ch:receive("cleaned", 0) == true)
    local ok, err = p:join()
    assert(ok == nil and err == shoal.cancelled and p:status() == "cancelled"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a finalizer that runs when its process ends can send but not wait") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local p = shoal.spawn(function(ch)
      local s = require "shoal"
      keep = setmetatable({}, { __gc = function()
        local ok, err = pcall(s.sleep, 1)
        ch:set("said", err)
      end })
    end, ch)
    p:join()
    assert(ch:get("said"):find("the process has ended")))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
