// SPDX-License-Identifier: MIT
// The containers of the C++ library run out of memory at each place in turn: what a script calls
// raises "not enough memory" then, and the program goes on. (For the memory of Lua and messages,
// see tests/lua/memory_faults.h.)
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <string>

#include "tests/support/script_runner.h"

// The sanitizers have an operator new of their own, which cannot be replaced.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHOAL_OWN_NEW
#endif
#endif

#ifdef SHOAL_OWN_NEW

TEST_CASE("the sanitizers refuse no memory") { SUCCEED(); }

#else

using shoal::test::RunOptions;
using shoal::test::RunResult;
using shoal::test::RunScript;

namespace {

// Of the calling thread: how many more times operator new succeeds; negative: always.
thread_local long allocations_left = -1;
thread_local bool a_fault_happened = false;

void* Allocate(std::size_t size) {
  if (allocations_left == 0) {
    a_fault_happened = true;
    return nullptr;
  }
  if (allocations_left > 0) --allocations_left;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

void* operator new(std::size_t size) {
  void* memory = Allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// fail_after(n): on this thread, operator new succeeds n more times.
int FailAfter(lua_State* L) {
  a_fault_happened = false;
  allocations_left = static_cast<long>(luaL_checkinteger(L, 1));
  return 0;
}

// end_faults() → whether there was one.
int EndFaults(lua_State* L) {
  allocations_left = -1;
  lua_pushboolean(L, a_fault_happened ? 1 : 0);
  return 1;
}

void Open(lua_State* L) {
  lua_register(L, "fail_after", FailAfter);
  lua_register(L, "end_faults", EndFaults);
}

RunResult Run(const std::string& source) {
  RunOptions options;
  // One thread runs all, so a fault is that of the script.
  options.workers = 1;
  options.open = Open;
  // If that thread stands still for a slice, another process goes on with the fault. So only what
  // goes wrong each time is wrong.
  RunResult result;
  for (int attempt = 0; attempt < 5; ++attempt) {
    result = RunScript(source, options);
    if (result.status == 0 && result.log.empty()) break;
  }
  return result;
}

// each(f): calls f with a fault at the first allocation, the second, and so on, until there is
// none.
constexpr char kEach[] = R"lua(
  local shoal = require "shoal"
  local long = ("x"):rep(100)
  local function each(f)
    for n = 0, 200 do
      fail_after(n)
      local ok, err = pcall(f)
      if not end_faults() then
        assert(ok, err)
        return n
      end
      assert(ok or tostring(err):find("not enough memory"), err)
    end
    error("there is no end")
  end
)lua";

}  // namespace

TEST_CASE("a spawn without memory raises, and leaves no process behind") {
  const RunResult result = Run(std::string(kEach) + R"lua(
    assert(each(function()
      shoal.spawn({ name = long, libs = { "shoal" }, channels = { long, long .. "y" } },
                  "local a = ...", 1)
    end) > 5)
    each(function() shoal.spawn({ name = long, link = true, cpu_limit = 5 }, print) end)
    each(function() shoal.spawn({ libs = { "string" } }, "local a = ...", 1) end)
    shoal.wait()
    assert(#shoal.processes() == 1))lua");
  CHECK(result.log == "");
  CHECK(result.status == 0);
}

TEST_CASE("a look for processes without memory raises") {
  const RunResult result = Run(std::string(kEach) + R"lua(
    local ch = shoal.channel(long)
    local p = shoal.spawn({ name = long }, function(c) c:receive(("k"):rep(100)) end, ch)
    while p:status() ~= "waiting" do shoal.yield() end
    assert(each(function() shoal.processes() end) > 0)
    assert(each(function() assert(shoal.process(long)) end) > 0)
    assert(each(function() p:stats() end) > 0)
    assert(p:stats().waiting_on:find("kkk"))
    p:cancel(20))lua");
  CHECK(result.log == "");
  CHECK(result.status == 0);
}

TEST_CASE("what channels keep of names and keys raises without memory") {
  const RunResult result = Run(std::string(kEach) + R"lua(
    local kept = {}
    assert(each(function() kept[#kept + 1] = shoal.channel(long .. #kept) end) > 1)
    each(function() kept[#kept + 1] = shoal.channel() end)
    local ch = shoal.channel()
    each(function() ch:set(long, 1) end)
    assert(each(function() assert(ch:keys()[1] == long) end) > 0)
    each(function() assert(ch:expire(long, 1000)) end)
    assert(ch:ttl(long))
    assert(each(function() ch:limit(long .. "2", 5) end) >= 0)
    local p = shoal.self()
    assert(each(function() p:monitor(ch, long):cancel() end) > 0)
    assert(each(function() shoal.after(1000, ch, long, 1):cancel() end) > 0)
    assert(each(function() shoal.every(1000, ch, long, ch):cancel() end) > 1)
    each(function()
      assert(shoal.select({ { ch, "a" }, { ch, "b" }, { ch, "c", send = { 1 } } }) == 3)
    end)
    each(function() shoal.select({ { ch, "a" }, { ch, "b" }, timeout = 0 }) end)
    local g = shoal.group()
    each(function() g:task(function() end) end)
    each(function() g:spawn(function() end) end)
    g:join())lua");
  CHECK(result.log == "");
  CHECK(result.status == 0);
}

TEST_CASE("calls of pools raise without memory, or end by that, and the pool goes on") {
  const RunResult result = Run(std::string(kEach) + R"lua(
    local pool = shoal.pool({ size = 1, tasks = 2 })
    assert(pool:call("math.abs", -1) == 1)
    local futures = {}
    assert(each(function() futures[#futures + 1] = pool:async("math.abs", -1) end) > 0)
    for _, future in ipairs(futures) do assert(future:result() == 1) end
    for n = 0, 30 do
      for _, f in ipairs({ string.rep, error }) do
        local ok, err = pool:call_for(60, function()
          fail_after(n)
          return f(("r"):rep(100), 1)
        end)
        end_faults()
        assert(ok or err:find("rrr") or err:find("not enough memory"), err)
      end
    end
    assert(pool:call("math.abs", -1) == 1 and pool:close()))lua");
  CHECK(result.status == 0);
}

TEST_CASE("a process ends also without memory for what is said of its end") {
  const RunResult result = Run(std::string(kEach) + R"lua(
    for n = 0, 30 do
      local p = shoal.spawn({ name = long }, function()
        fail_after(n)
        error(("e"):rep(100))
      end)
      local ok, err = p:join()
      end_faults()
      assert(not ok and (err:find("eee") or err:find("not enough memory")), err)
      local q = shoal.spawn({ name = long }, function()
        fail_after(n)
        return ("r"):rep(100)
      end)
      q:join()
      end_faults()
      local t = shoal.task(function()
        fail_after(n)
        error(("t"):rep(100))
      end)
      t:join()
      end_faults()
    end)lua");
  CHECK(result.status == 0);
}

#endif
