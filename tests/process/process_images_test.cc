// SPDX-License-Identifier: MIT
#include "runtime/process/process_images.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "runtime/base/runtime_thread.h"
#include "runtime/process/machine.h"
#include "tests/support/script_runner.h"

using namespace shoal::core;
using shoal::test::CollectedLog;
using shoal::test::RunScript;

namespace {

// What a process has that is one of several.
constexpr char kProgram[] = R"lua(
  local shoal = require "shoal"
  local function body(n)
    local names = {}
    for name in pairs(_G) do names[#names + 1] = name end
    table.sort(names)
    local handle = require("shoal").channel()
    handle:send("key", n)
    return table.concat(names, " "), math.random(1 << 40), handle:receive("key")
  end
  local first, seen = nil, {}
  for i = 1, 60 do
    local names, chance, n = shoal.spawn(body, i):result()
    first = first or names
    assert(names == first)
    assert(not seen[chance], "the chance of a process is that of another one")
    seen[chance] = true
    assert(n == i)
  end
  -- Others that start at the same time, and fail, and are cancelled, and need more than a slot.
  local all = {}
  for i = 1, 200 do
    all[i] = shoal.spawn(function(k)
      if k % 4 == 0 then error("failed on purpose", 0) end
      if k % 4 == 1 then require("shoal").sleep(60) end
      local t = setmetatable({}, { __gc = function() end })
      for j = 1, k * 20 do t[j] = { j } end
      return #t
    end, i)
  end
  for i = 1, 200 do
    if i % 4 == 1 then all[i]:cancel() end
    local ok, result = all[i]:join()
    assert(ok == (i % 4 > 1 or nil), i)
    if ok then assert(result == i * 20) end
  end
  -- Other libraries, and a limit that an image is too large for.
  for i = 1, 40 do
    local p = shoal.spawn({ libs = { "string" } }, function() return io == nil and string ~= nil end)
    assert(p:result())
    local ok, why = shoal.spawn({ memory_limit = 12000 }, function() end):join()
    assert(not ok and tostring(why):find("memory"), why)
  end)lua";

class PlainLibrary final : public ScriptLibrary {
 public:
  void Open(lua_State* L, LibrarySet) const override {
    if (!refused) return;
    lua_newthread(L);
    lua_setglobal(L, "thread");
  }
  RefCounted* ToReference(lua_State*, int) const override { return nullptr; }
  void PushReference(lua_State* L, RefCounted*) const override { lua_pushnil(L); }
  void PushCancelled(lua_State* L) const override { lua_pushnil(L); }
  bool refused = false;
};

// Images are made by threads that run processes: for others, a state may be one of a host.
class OnRuntimeThread {
 public:
  OnRuntimeThread() = default;
  OnRuntimeThread(const OnRuntimeThread&) = delete;
  OnRuntimeThread& operator=(const OnRuntimeThread&) = delete;
  ~OnRuntimeThread() { RuntimeThread::Exchange(before_); }

 private:
  const RuntimeThread::Kind before_ = RuntimeThread::Exchange(RuntimeThread::Kind::kRuntime);
};

}  // namespace

TEST_CASE("processes are the same with images and without") {
  for (StateImages when : {StateImages::kOff, StateImages::kForMany, StateImages::kFromFirst}) {
    INFO(static_cast<int>(when));
    const auto result = RunScript(kProgram, {.state_images = when});
    INFO(result.log);
    REQUIRE(result.status == 0);
    // (Errors that are joined late are in it.)
    REQUIRE(result.log.find("state image") == std::string::npos);
    REQUIRE(result.clean);
  }
}

TEST_CASE("an image is made when many processes have started with its libraries") {
  const OnRuntimeThread here;
  CollectedLog log;
  const PlainLibrary library;
  ProcessImages images(library, log, StateImages::kForMany, 1);
  for (int i = 1; i < 16; ++i) {
    REQUIRE(images.For(kAllLibraries) == nullptr);
    REQUIRE(images.For(0) == nullptr);
  }
  const StateImage* const all = images.For(kAllLibraries);
  REQUIRE(all != nullptr);
  REQUIRE(images.For(kAllLibraries) == all);
  const StateImage* const none = images.For(0);
  REQUIRE(none != nullptr);
  REQUIRE(none->size() < all->size());
}

TEST_CASE("there are images for some sets of libraries, and none for the rest") {
  const OnRuntimeThread here;
  CollectedLog log;
  const PlainLibrary library;
  ProcessImages images(library, log, StateImages::kFromFirst, 1);
  std::set<const StateImage*> made;
  for (LibrarySet libraries = 0; libraries < 20; ++libraries) {
    if (const StateImage* const image = images.For(libraries)) made.insert(image);
  }
  REQUIRE(made.size() == 8);
}

TEST_CASE("without images there are none, and one that cannot be made is spoken of once") {
  const OnRuntimeThread here;
  CollectedLog log;
  PlainLibrary library;
  ProcessImages off(library, log, StateImages::kOff, 1);
  REQUIRE(off.For(kAllLibraries) == nullptr);
  library.refused = true;
  ProcessImages images(library, log, StateImages::kFromFirst, 1);
  for (int i = 0; i < 40; ++i) REQUIRE(images.For(kAllLibraries) == nullptr);
  REQUIRE(log.text() ==
          "processes start without a state image: a coroutine, in registry[2].thread\n");
}
