// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "runtime/process/process.h"
#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("a deadlock names each waiter with process, channel, key and line") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel("jobs")
    shoal.spawn({ name = "worker" }, function(ch) ch:receive_any({ "a", 2 }) end, ch)
    ch:receive("result"))lua");
  REQUIRE(result.status == 1);
  REQUIRE(result.log.find("deadlock") != std::string::npos);
  REQUIRE(result.log.find("process 1: receive on channel \"jobs\", key \"result\", at script:5") !=
          std::string::npos);
  REQUIRE(result.log.find(
              "process 2 (worker): receive on channel \"jobs\", keys \"a\", 2, at script:4") !=
          std::string::npos);
}

TEST_CASE("a deadlock is an error that the script can catch, and go on") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    for i = 1, 3 do
      local ok, err = pcall(ch.receive, ch, "k")
      assert(not ok and err:find("deadlock"))
    end
    ch:send("k", 1)
    assert(ch:receive("k") == 1))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a pending deadline is no deadlock") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    shoal.spawn(function(ch) require "shoal".sleep(0.02) ch:send("k", 1) end, ch)
    assert(ch:receive("k") == 1))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a join of a process that waits for ever is a deadlock") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local p = shoal.spawn(function() require "shoal".channel("none"):receive("k") end)
    local ok, err = pcall(p.join, p)
    assert(not ok and err:find("join of process 2")))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a send that waits for queue memory which nobody frees says so") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local text = string.rep("x", 1000)
    local ok, err = pcall(function() for i = 1, 1000 do ch:send(i, text) end end)
    assert(not ok and err:find("queue memory limit reached"), err))lua",
                                     {.queue_memory = 100000});
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
