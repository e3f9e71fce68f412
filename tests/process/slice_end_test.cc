// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

// One worker: what runs holds up everything else.
static void CheckRuns(const std::string& script) {
  const RunResult result = RunScript(script, {.workers = 1});
  CHECK(result.log.empty());
  CHECK(result.status == 0);
  CHECK(result.clean);
}

TEST_CASE("a loop does not hold up other processes, wherever it runs") {
  for (const char* const place : {
           "while true do end",
           "pcall(function() while true do end end)",
           "coroutine.wrap(function() coroutine.wrap(function() while true do end end)() end)()",
           "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
           "for _ in function() return 1 end do end",
           "local c <close> = setmetatable({}, {__close = function() while true do end end})",
           "table.sort({2, 1, 3}, function() while true do end end)",
           "string.gsub('x', 'x', function() while true do end end)",
           // Hooks are off in finalizers.
           "setmetatable({}, {__gc = function() while os.clock() < 2 do end end}) collectgarbage()",
           "string.find(('a'):rep(250), ('a-'):rep(3) .. 'b')",
       }) {
    INFO(place);
    CheckRuns(std::string(R"lua(
      local shoal = require "shoal"
      local ch = shoal.channel()
      shoal.spawn({daemon = true}, [==[)lua") +
              place + R"lua(]==])
      shoal.spawn(function() for i = 1, 3 do ch:send("n", i) shoal.sleep(0.001) end end)
      for i = 1, 3 do assert(ch:receive("n", 30) == i) end)lua");
  }
}

TEST_CASE("the end of a slice resumes the same task") {
  CheckRuns(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    shoal.spawn({daemon = true}, function() while true do ch:incr("turns") end end)
    local other_ran = false
    shoal.task(function() other_ran = true end)
    while (ch:get("turns") or 0) < 10000 do assert(not other_ran) end
    assert(not other_ran)
    shoal.yield()
    assert(other_ran))lua");
}

TEST_CASE("a task that polls lets its siblings run, however long its rounds take") {
  CheckRuns(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    shoal.spawn({daemon = true}, function() while true do end end)
    local ran = false
    shoal.task(function() ran = true end)
    -- Each round is longer than a slice.
    local rounds = 0
    while not ran and rounds < 2000 do
      rounds = rounds + 1
      for i = 1, 2e6 do end
      ch:receive("none", 0)
    end
    assert(ran and rounds < 2000))lua");
}

TEST_CASE("busy processes are cancelled at the end of the program") {
  CheckRuns(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    for _, body in ipairs({
      "while true do end",
      "while true do pcall(function() while true do end end) end",
      "table.sort({2, 1, 3}, function() while true do end end)",
      "local shoal = require 'shoal' while true do shoal.now() end",
    }) do shoal.spawn({daemon = true}, body) end
    shoal.sleep(0.02))lua");
}
