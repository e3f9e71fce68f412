// SPDX-License-Identifier: MIT
#include "runtime/process/descriptor_wait.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "tests/process/ends.h"
#include "tests/support/script_runner.h"

using namespace shoal::core;
using shoal::test::RunOptions;
using shoal::test::RunResult;
using shoal::test::RunWithEnds;

namespace {

// With one worker, with two, and in the simulator.
void RunInAllWays(const std::string& source) {
  for (const int workers : {1, 2}) {
    INFO(workers << " workers");
    const RunResult result = RunWithEnds(source, {.workers = workers});
    CHECK(result.log == "");
    CHECK(result.status == 0);
    CHECK(result.clean);
  }
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    const RunResult result = RunWithEnds(source, {.seed = seed});
    CHECK(result.log == "");
    CHECK(result.status == 0);
    CHECK(result.clean);
  }
}

}  // namespace

TEST_CASE("a wait for a socket suspends its task only") {
  RunInAllWays(R"lua(
    local a, b = ends.pair()
    local order = {}
    local reader = shoal.task(function()
      order[#order + 1] = "waits"
      local text = a:read()
      order[#order + 1] = text
    end)
    shoal.task(function()
      order[#order + 1] = "others run"
      assert(b:write("it is there"))
    end)
    reader:join()
    assert(table.concat(order, ", ") == "waits, others run, it is there"))lua");
}

TEST_CASE("two processes send to and fro, and no wake-up is lost") {
  RunInAllWays(R"lua(
    local pairs_ = {}
    for i = 1, 4 do
      local a, b = ends.pair()
      pairs_[i] = shoal.spawn(function(p, times)
        local a = require("ends").take(p)
        for n = 1, times do
          local text = a:read()
          assert(text == "ping" .. n, text)
          assert(a:write("pong" .. n))
        end
        return a:read()
      end, a:pass(), times)
      shoal.task(function()
        for n = 1, times do
          assert(b:write("ping" .. n))
          local text = b:read(60)
          assert(text == "pong" .. n, text)
        end
        b:close()
      end)
    end
    for i = 1, 4 do
      local _, text = pairs_[i]:result()
      assert(text == "closed")
    end)lua");
}

TEST_CASE("more than fits is written when there is room again") {
  RunInAllWays(R"lua(
    local a, b = ends.pair()
    local size = 1000000
    local writer = shoal.task(function() return a:write(("x"):rep(size)) end)
    local read = 0
    while read < size do read = read + #b:read() end
    assert(writer:result() == true)
    a:fill()
    local _, word = a:write("more", 0.002)
    assert(word == "timeout"))lua");
}

TEST_CASE("a wait ends at its deadline, and the next one works") {
  RunInAllWays(R"lua(
    local a, b = ends.pair()
    for _ = 1, 3 do
      local _, word = a:read(0.002)
      assert(word == "timeout", word)
    end
    b:write("x")
    assert(a:read(60) == "x"))lua");
}

TEST_CASE("a close ends the waits of other tasks and of other processes") {
  RunInAllWays(R"lua(
    local a, b = ends.pair()
    local reader = shoal.task(function() return select(2, a:read()) end)
    local other = shoal.spawn(function(p)
      return select(2, require("ends").take(p):read())
    end, b:pass())
    shoal.yield()
    a:close()
    assert(reader:result() == "closed")
    assert(other:result() == "closed")
    local c, d = ends.pair()
    other = shoal.spawn(function(p)
      return select(2, require("ends").take(p):read())
    end, c:pass())
    while other:status() ~= "waiting" do shoal.yield() end
    c:close()
    assert(other:result() == "closed")
    assert(select(2, c:read()) == "closed"))lua");
}

TEST_CASE("two readers wait at one time, and each gets something") {
  RunInAllWays(R"lua(
    local a, b = ends.pair()
    local outcomes = {}
    local function read()
      local text = a:read()
      outcomes[#outcomes + 1] = text
    end
    local tasks = { shoal.task(read), shoal.task(read) }
    shoal.yield()
    b:write("x")
    while #outcomes == 0 do shoal.yield() end
    b:write("y")
    for _, task in ipairs(tasks) do task:result() end
    assert(table.concat(outcomes, " ") == "x y"))lua");
}

TEST_CASE("a wait for a socket ends by a cancel") {
  RunInAllWays(R"lua(
    local a, b = ends.pair()
    local p = shoal.spawn(function(p) require("ends").take(p):read() end, a:pass())
    while p:status() ~= "waiting" do shoal.yield() end
    assert(p:cancel(60))
    assert(p:status() == "cancelled"))lua");
}

TEST_CASE("a wait for a socket works where Lua cannot yield") {
  RunInAllWays(R"lua(
    local a, b = ends.pair()
    shoal.task(function() b:write("x") end)
    assert(("_"):gsub("_", function() return a:read() end) == "x"))lua");
}

TEST_CASE("one wait for many sockets ends by the first one that is ready") {
  RunInAllWays(R"lua(
    local near, far = {}, {}
    for i = 1, 100 do near[i], far[i] = ends.pair() end
    for round = 1, 20 do
      local index = (round * 37) % 100 + 1
      shoal.task(function() far[index]:write("x") end)
      assert(ends.select(60, table.unpack(near)) == index)
      assert(near[index]:read() == "x")
    end
    assert(select(2, ends.select(0.002, table.unpack(near))) == "timeout")
    far[7]:write("x")
    far[9]:write("x")
    assert(ends.select(nil, table.unpack(near)) == 7)
    assert(near[7]:read() == "x")
    assert(ends.select(nil, table.unpack(near)) == 9)
    assert(near[9]:read() == "x")
    -- The same twice is no second reader.
    assert(select(2, ends.select(0.002, near[1], near[1])) == "timeout")
    shoal.task(function() near[50]:close() end)
    assert(select(2, ends.select(60, table.unpack(near))) == "closed"))lua");
}

TEST_CASE("many waits with deadlines, closes and cancels neither hang nor get what is another's") {
  RunInAllWays(R"lua(
    local function wait(p, i, times)
      local ends, shoal = require "ends", require "shoal"
      local a = ends.take(p)
      a:write("t")
      local got = 0
      for n = 1, times do
        local text, word = a:read(n % 3 == 0 and 0.001 or nil)
        if text then
          assert(text == ("x"):rep(#text) .. "", text)
          got = got + #text
        elseif word == "closed" then
          return got, "closed"
        else
          assert(word == "timeout", word)
        end
      end
      return got
    end
    local rounds = math.max(times // 20, 2)
    for round = 1, rounds do
      local waiting = {}
      for i = 1, 10 do
        local a, b = ends.pair()
        local p = shoal.spawn(wait, a:pass(), i, 20)
        waiting[i] = { p = p, a = a, b = b }
        assert(b:read() == "t")
      end
      for n = 1, 20 do
        for i, w in ipairs(waiting) do
          if (n + i) % 4 ~= 0 then w.b:write("x") end
        end
        if n % 5 == 0 then shoal.yield() end
      end
      for i, w in ipairs(waiting) do
        if i % 3 == 0 then w.p:cancel() elseif i % 3 == 1 then w.b:close() else w.a:close() end
      end
      for _, w in ipairs(waiting) do assert(w.p:join(60) ~= nil or w.p:status() == "cancelled") end
    end)lua");
}

TEST_CASE("a busy process does not keep data from one that waits for it") {
  for (const int workers : {1, 2}) {
    const RunResult result = RunWithEnds(R"lua(
      local a, b = ends.pair()
      local reader = shoal.spawn(function(p) return (require("ends").take(p):read()) end, a:pass())
      while reader:status() ~= "waiting" do shoal.yield() end
      for _ = 1, 3 do
        shoal.spawn({ daemon = true }, function() while true do end end)
      end
      -- The write makes nothing ready: it has to be found out.
      b:write("x")
      assert(reader:result() == "x"))lua",
                                         {.workers = workers});
    CHECK(result.log == "");
    CHECK(result.status == 0);
  }
}

TEST_CASE("busy processes that make calls do not keep data from one that waits for it") {
  const RunResult result = RunWithEnds(R"lua(
    local a, b = ends.pair()
    for _ = 1, 3 do
      shoal.spawn({ daemon = true }, function()
        local shoal = require "shoal"
        while true do shoal.yield() end
      end)
    end
    for i = 1, 20 do
      shoal.task(function() b:write("x") end)
      assert(a:read() == "x")
    end)lua",
                                       {.workers = 1});
  CHECK(result.log == "");
  CHECK(result.status == 0);
}

namespace {

int outside_fds[2];

// Writes to the near end from a thread that the runtime does not know, when the script waits.
RunOptions WrittenFromOutside(int workers, std::optional<std::uint64_t> seed = std::nullopt) {
  RunOptions options;
  options.workers = workers;
  options.seed = seed;
  options.meanwhile = [](Runtime& runtime) {
    while (runtime.ListProcesses().find("read on an end") == std::string::npos) {
      std::this_thread::yield();
    }
    // Some time for all to come to rest: that must be no deadlock.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    static_cast<void>(::write(outside_fds[1], "x", 1) == 1);
  };
  return options;
}

}  // namespace

TEST_CASE("a program that waits for a socket is at no deadlock, and goes on when data comes") {
  const auto source = R"lua(
    local channel = shoal.channel()
    shoal.spawn({ daemon = true }, function(ch) ch:receive("never") end, channel)
    local ok, text = pcall(channel.receive, channel, "never")
    assert(not ok and text:find("deadlock"), text)
    assert(outside:read() == "x")
    ok, text = pcall(channel.receive, channel, "never")
    assert(not ok and text:find("deadlock"), text))lua";
  for (const int workers : {1, 2}) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, outside_fds) == 0);
    const RunResult result =
        RunWithEnds("local outside = ends.adopt(" + std::to_string(outside_fds[0]) + ")" + source,
                    WrittenFromOutside(workers));
    CHECK(result.log == "");
    CHECK(result.status == 0);
    ::close(outside_fds[1]);
  }
}

TEST_CASE("in the simulator, time passes as outside while a socket is waited for") {
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, outside_fds) == 0);
  RunOptions options;
  options.seed = 7;
  std::thread writes([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    static_cast<void>(::write(outside_fds[1], "x", 1) == 1);
  });
  const RunResult result =
      RunWithEnds("local outside = ends.adopt(" + std::to_string(outside_fds[0]) + ")" + R"lua(
      -- Nobody waits for the world: an hour is nothing.
      shoal.sleep(3600)
      assert(outside:read(3600) == "x")
      local before = shoal.now()
      assert(select(2, outside:read(0.01)) == "timeout")
      assert(shoal.now() - before >= 0.01)
      shoal.sleep(3600))lua",
                  options);
  writes.join();
  CHECK(result.log == "");
  CHECK(result.status == 0);
  ::close(outside_fds[1]);
}

TEST_CASE("a script that has returned is waited for as long as a process waits for a socket") {
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, outside_fds) == 0);
  const RunResult result = RunWithEnds("local fd = " + std::to_string(outside_fds[0]) + R"lua(
      shoal.spawn(function(fd)
        assert(require("ends").adopt(fd):read() == "x")
        error("it has come")
      end, fd))lua",
                                       WrittenFromOutside(2));
  CHECK(result.log.find("it has come") != std::string::npos);
  CHECK(result.status == 1);
  ::close(outside_fds[1]);
}
