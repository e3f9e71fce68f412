// SPDX-License-Identifier: MIT
// The end of a slice against all else that ends: signals come at the end of a dispatch, of a task
// and of a process, to threads that have just lost their seat or got it back, to code that is being
// cancelled.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

// What the scripts below begin with. `spin` are daemons that never end, each in another kind of
// place; `scaled` makes a number smaller where slices end at every instruction, and where a
// sanitizer slows all down.
static const char* const kPrelude = R"lua(
  local shoal = require "shoal"
  local ch = shoal.channel()
  local SPINS = {
    "while true do end",
    "table.sort({2, 1, 3}, function() while true do end end)",
    "while true do string.gsub('x', 'x', function() for i = 1, 1e6 do end end) end",
    "while true do coroutine.wrap(function() for i = 1, 1e5 do end end)() end",
    "while true do pcall(error, 'x') end",
    "while true do local t = {} for i = 1, 100 do t[i] = {i} end end",
    "local shoal = require 'shoal' while true do shoal.now() end",
    "while true do string.find(('a'):rep(100), ('a-'):rep(3) .. 'b') end",
    "while true do setmetatable({}, {__gc = function() for i = 1, 1000 do end end}) end",
  }
  local function scaled(n) return math.max(2, n // SCALE) end
)lua";

#ifdef NDEBUG
static constexpr int kScale = 1;
#else
static constexpr int kScale = 4;
#endif

// In several numbers of workers, in both modes.
static void CheckEverywhere(const std::string& script) {
  for (const bool every : {false, true}) {
    for (const int workers : {1, 2, 4}) {
      INFO("workers " << workers << (every ? ", every instruction" : ""));
      const RunResult result =
          RunScript("local SCALE = " + std::to_string(every ? 20 : kScale) + kPrelude + script,
                    {.workers = workers, .every = every});
      CHECK(result.log == "");
      CHECK(result.status == 0);
      CHECK(result.clean);
    }
  }
}

TEST_CASE("thousands of processes begin and end while others never do") {
  CheckEverywhere(R"lua(
    for _, body in ipairs(SPINS) do shoal.spawn({daemon = true}, body) end
    for round = 1, 3 do
      local list = {}
      for i = 1, scaled(400) do
        list[i] = shoal.spawn(function(n)
          local sum = 0
          for i = 1, n do sum = sum + i end
          return sum
        end, i * 20)
      end
      for i, p in ipairs(list) do
        local ok, sum = p:join()
        assert(ok and sum == i * 20 * (i * 20 + 1) // 2)
      end
    end)lua");
}

TEST_CASE("processes that spin are cancelled at any moment") {
  CheckEverywhere(R"lua(
    math.randomseed(1)
    for round = 1, 2 do
      for _, body in ipairs(SPINS) do
        local p <close> = shoal.spawn(body)
        local q <close> = shoal.spawn(body)
        if round % 2 == 1 then shoal.sleep(math.random() * 0.006) end
      end
    end)lua");
}

TEST_CASE("long C functions end just when their thread loses its seat") {
  CheckEverywhere(R"lua(
    shoal.spawn({daemon = true}, SPINS[1])
    shoal.spawn({daemon = true}, SPINS[2])
    local list = {}
    -- From a few milliseconds to many, whatever the machine.
    for i = 1, scaled(12) do
      list[i] = shoal.spawn(function(n)
        assert(not string.find(("a"):rep(n), ("a-"):rep(3) .. "b"))
        local sum = 0
        for k = 1, 1000 do sum = sum + k end
        return sum
      end, 60 + i * (SCALE < 20 and 144 // scaled(12) or 12))
    end
    for _, p in ipairs(list) do
      local ok, sum = p:join()
      assert(ok and sum == 500500)
    end)lua");
}

TEST_CASE("waits in functions that cannot yield go on while slices end") {
  CheckEverywhere(R"lua(
    shoal.spawn({daemon = true}, SPINS[1])
    local list = {}
    for i = 1, scaled(40) do
      list[i] = shoal.spawn(function(n)
        local shoal = require "shoal"
        local own = shoal.channel()
        for task = 1, 3 do
          shoal.task(function()
            for k = 1, 5 do
              for _ = 1, 2000 do end
              own:send(task, k)
            end
          end)
        end
        local sum = 0
        local items = {1, 2, 3, 4}
        table.sort(items, function(a, b)
          sum = sum + (own:receive((a + b) % 3 + 1, 0.001) or 0)
          for _ = 1, 1000 do end
          return a < b
        end)
        string.gsub("abc", ".", function() sum = sum + (own:receive_any({1, 2, 3})) end)
        assert(table.concat(items) == "1234")
        return sum > 0
      end, i)
    end
    for _, p in ipairs(list) do
      local ok, value = p:join()
      assert(ok and value, value)
    end)lua");
}

TEST_CASE("messages between processes that spin are neither lost nor doubled") {
  CheckEverywhere(R"lua(
    shoal.spawn({daemon = true}, SPINS[1])
    shoal.spawn({daemon = true}, SPINS[5])
    local senders, each = 4, scaled(400)
    for s = 1, senders do
      shoal.spawn(function(ch, s, each)
        for i = 1, each do
          for _ = 1, i % 50 * 20 do end
          ch:send("work", s, i)
        end
      end, ch, s, each)
    end
    local last = {}
    for _ = 1, senders * each do
      local s, i = ch:receive("work")
      assert(i == (last[s] or 0) + 1)
      last[s] = i
    end
    assert(ch:count("work") == 0))lua");
}

TEST_CASE("a storm of processes that spawn others") {
  CheckEverywhere(R"lua(
    for i = 1, 2 do shoal.spawn({daemon = true}, SPINS[i]) end
    local function grow(ch, depth)
      local shoal = require "shoal"
      for _ = 1, 500 do end
      if depth == 0 then
        ch:incr("leaves")
        return
      end
      for _ = 1, 3 do shoal.spawn(grow, ch, depth - 1) end
    end
    local depth = SCALE == 1 and 6 or SCALE < 20 and 5 or 3
    shoal.spawn(grow, ch, depth)
    while (ch:get("leaves") or 0) < 3 ^ depth do shoal.sleep(0.001) end
    shoal.wait(0.001))lua");
}
