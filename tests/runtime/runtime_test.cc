// SPDX-License-Identifier: MIT
#include "runtime/runtime.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/script_runner.h"

using namespace shoal::core;
using shoal::test::RunOptions;
using shoal::test::RunResult;
using shoal::test::RunScript;

namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr int kRuntimes = 40;
#else
constexpr int kRuntimes = 300;
#endif
#else
constexpr int kRuntimes = 300;
#endif
// For processes in all states; fewer in debug builds and under the sanitizers.
#ifdef NDEBUG
constexpr int kManyRuntimes = 1000;
#else
constexpr int kManyRuntimes = 100;
#endif

}  // namespace

namespace {

void RunManyTimes(const std::string& source) {
  for (int i = 0; i < kRuntimes; ++i) {
    const RunResult result = RunScript(source);
    REQUIRE(result.log.empty());
    REQUIRE(result.status == 0);
    REQUIRE(result.clean);
  }
}

}  // namespace

TEST_CASE("runtimes start and stop with processes that wait in every way") {
  RunManyTimes(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    ch:limit("full", 1)
    ch:send("full", 1)
    shoal.spawn(function(ch) ch:receive("never") end, ch)
    shoal.spawn(function(ch) ch:send("full", 2) end, ch)
    shoal.spawn(function(ch) table.sort({ 2, 1 }, function() ch:receive("never") end) end, ch)
    shoal.spawn(function() return 1 end)
  )lua");
}

TEST_CASE("runtimes start and stop with daemons that sleep, wait, and run") {
  RunManyTimes(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    shoal.spawn({ daemon = true }, function() require "shoal".sleep(1000) end)
    shoal.spawn({ daemon = true }, function(ch) ch:receive("never") end, ch)
    shoal.spawn({ daemon = true }, function() local s = require "shoal" while true do s.yield() end end)
    shoal.spawn(function() require "shoal".sleep(0.001) end)
  )lua");
}

TEST_CASE("a runtime stops, whatever its processes are doing") {
  const std::string source = R"lua(

    local shoal = require "shoal"
    local ch = shoal.channel()
    ch:limit("full", 1)
    ch:send("full", 1)
    ch:limit("meet", 0)
    for i = 1, 20 do ch:send("queued", { i, ch, shoal.self() }) end
    local function wait() ch:receive("never") end
    local function wait_in_close()
      local shoal = require "shoal"
      local closed <close> = setmetatable({}, { __close = function() shoal.sleep(0.0005) end })
      ch:receive("never")
    end
    local bodies = {
      wait, wait_in_close,
      function() ch:send("full", 2) end,
      function() ch:send("meet", 2) end,
      function() require("shoal").sleep(1000) end,
      function() table.sort({ 2, 1 }, wait) end,
      function() return ("x"):gsub("x", function() require("shoal").task(wait):join() end) end,
      function() local t = require("shoal").task(wait_in_close) wait_in_close() end,
      function() while true do require("shoal").yield() end end,
      function() while ch:set("variable", 1) do end end,
      -- Refused when the end has begun.
      function()
        local ok, process = pcall(require("shoal").spawn, wait)
        if ok then process:join() else assert(process:find("the program is ending")) end
      end,
      function() return 1 end,
    }
    for i, body in ipairs(bodies) do
      shoal.spawn({ daemon = i % 2 == turns % 2 }, body)
    end
    do local cancelled <close> = shoal.spawn(wait_in_close) end
    for _ = 1, turns do shoal.yield() end
    local unfinished = shoal.task(wait_in_close)
    shoal.spawn(wait)
    os.exit(5, true))lua";
  for (int i = 0; i < kManyRuntimes; ++i) {
    const RunResult result = RunScript("local turns = " + std::to_string(i % 50) + source);
    REQUIRE(result.log.empty());
    REQUIRE(result.status == 5);
    REQUIRE(result.clean);
  }
}

TEST_CASE("a simulated runtime repeats a run, down to its end") {
  const std::string source = R"lua(
    local shoal = require "shoal"
    local ch, order = shoal.channel(), {}
    for i = 1, 4 do
      shoal.spawn(function()
        local shoal = require "shoal"
        ch:send("began", i)
        for _ = 1, 5 do ch:send("order", i) ch:incr("n") shoal.yield() end
        table.sort({ 3, 1, 2 }, function(a, b) shoal.sleep(0.001) ch:send("order", -i) return a < b end)
        local closed <close> = setmetatable({}, { __close = function() error("closed " .. i) end })
        shoal.sleep(i == 1 and 3600 or 7200)
      end)
    end
    for i = 1, 4 do order[#order + 1] = ch:receive("began") end
    shoal.sleep(4000)
    while ch:count("order") > 0 do order[#order + 1] = ch:receive("order") end
    error(table.concat(order, " ")))lua";
  std::set<std::string> logs;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RunResult result = RunScript(source, {.seed = seed});
    REQUIRE(result.status == 1);
    REQUIRE(result.clean);
    REQUIRE(result.log.find("closed 1") != std::string::npos);
    REQUIRE(RunScript(source, {.seed = seed}).log == result.log);
    logs.insert(result.log);
  }
  REQUIRE(logs.size() > 10);
}

TEST_CASE("a look at all processes disturbs none, and makes no deadlock of a wait") {
  std::atomic<int> looks{0};
  RunOptions options;
  options.meanwhile = [&](Runtime& runtime) {
    // Till the script is over: what is found is a running process, a waiting one, or nobody.
    std::string list;
    while (list != "0 processes:") {
      list = runtime.ListProcesses();
      looks.fetch_add(1);
    }
  };
  for (int i = 0; i < kRuntimes / 10; ++i) {
    const RunResult result = RunScript(R"lua(
      local shoal = require "shoal"
      local ch = shoal.channel()
      local function echo(ch, i)
        for x in ch:each(i) do ch:send("back", x) end
        table.sort({ 2, 1 }, function(a, b) ch:receive("sorted") return a < b end)
      end
      for i = 1, 3 do shoal.spawn({ name = "echo" }, echo, ch, i) end
      local sum = 0
      for n = 1, 300 do
        ch:send(n % 3 + 1, n)
        sum = sum + ch:receive("back")
      end
      assert(sum == 300 * 301 / 2)
      ch:close(1) ch:close(2) ch:close(3)
      for i = 1, 3 do ch:send("sorted", i) end
      local ok, text = pcall(ch.receive, ch, "never")
      assert(not ok and text:find("deadlock"), text)
      assert(shoal.wait()))lua",
                                       options);
    REQUIRE(result.log.empty());
    REQUIRE(result.status == 0);
    REQUIRE(result.clean);
  }
  REQUIRE(looks.load() > kRuntimes / 10);
}

TEST_CASE("a list says what each process waits for, and which ones run") {
  std::string list;
  RunOptions options;
  options.meanwhile = [&](Runtime& runtime) {
    const auto is_complete = [&] {
      list = runtime.ListProcesses();
      return list.find("process 3 (busy): running") != std::string::npos &&
             list.find("process 2 (waits): receive") != std::string::npos &&
             list.find("\"k\", at script:6") != std::string::npos;
    };
    while (!is_complete()) std::this_thread::yield();
    runtime.machine().channels.Find("stop")->Close();
    runtime.machine().channels.Find("jobs")->Close();
  };
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch, stop = shoal.channel("jobs"), shoal.channel("stop")
    shoal.spawn({ name = "waits" }, function(ch) ch:receive("k") end, ch)
    shoal.spawn({ name = "busy" }, function(stop) repeat until not stop:set("k", 1) end, stop)
    ch:receive("k", 3600))lua",
                                     options);
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
  REQUIRE(list.substr(0, 12) == "3 processes:");
  REQUIRE(list.find("\n  process 1: receive on channel \"jobs\", key \"k\", at script:6") !=
          std::string::npos);
  REQUIRE(list.find("\n  process 2 (waits): receive on channel \"jobs\", key \"k\", at script:4") !=
          std::string::npos);
}

TEST_CASE("two runtimes in one program do not meet") {
  RunResult results[2];
  std::vector<std::thread> threads;
  for (RunResult& result : results) {
    threads.emplace_back([&result] {
      result = RunScript(R"lua(
        local shoal = require "shoal"
        local ch = shoal.channel("shared")
        assert(ch:incr("count") == 1)
        assert(shoal.spawn(function() return require "shoal".channel("shared"):incr("count") end)
          :result() == 2)
        assert(shoal.self().id == 1))lua");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const RunResult& result : results) {
    REQUIRE(result.log.empty());
    REQUIRE(result.status == 0);
  }
}

TEST_CASE("os.exit ends the program with its status, from any process") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local p = shoal.spawn(function() os.exit(7, true) end)
    p:join()
    require "shoal".channel():receive("never"))lua");
  REQUIRE(result.status == 7);
  REQUIRE(result.log.empty());
}

TEST_CASE("a program with nothing to do but a timer ends when that has fired") {
  const auto start = std::chrono::steady_clock::now();
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    shoal.spawn(function() require "shoal".sleep(0.05) end))lua");
  REQUIRE(result.status == 0);
  REQUIRE(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(50));
}
