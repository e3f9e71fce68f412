// SPDX-License-Identifier: MIT
#include "tests/bench/limits.h"

#include <lua.hpp>
#include <string>
#include <vector>

#include "runtime/base/check.h"
#include "tests/bench/forked.h"
#include "tests/bench/scripts.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

double all_wall = 0;
double all_computed = 0;

// Nanoseconds of computing for one of `count`.
double Finish(const Stopwatch& watch, long count) {
  const double computed = watch.computed();
  all_computed += computed;
  all_wall += watch.wall();
  return computed / static_cast<double>(count);
}

lua_State* NewState() {
  lua_State* L = luaL_newstate();
  SHOAL_CHECK(L != nullptr);
  luaL_openlibs(L);
  return L;
}

// [-0, +1, m]: the chunk.
void Load(lua_State* L, const std::string& source) {
  SHOAL_CHECK(luaL_loadbuffer(L, source.data(), source.size(), "=limit") == LUA_OK);
}

struct Measured {
  double cost;  // as of Finish
  double rate;  // of `count`, in a second
};

// Runs the chunk in a state of its own, with `count` as its argument.
Measured Run(const std::string& source, long count) {
  lua_State* L = NewState();
  Load(L, source);
  lua_pushinteger(L, count);
  const Stopwatch watch;
  SHOAL_CHECK(lua_pcall(L, 1, 0, 0) == LUA_OK);
  const double rate = static_cast<double>(count) / watch.wall() * 1e9;
  const Measured measured = {.cost = Finish(watch, count), .rate = rate};
  lua_close(L);
  return measured;
}

int AppendDump(lua_State*, const void* bytes, size_t size, void* text) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return 0;
}

std::string DumpedNothing() {
  lua_State* L = NewState();
  Load(L, "");
  std::string dump;
  lua_dump(L, AppendDump, &dump, 0);
  lua_close(L);
  return dump;
}

// --- The ping-pong.

// What stands under "ping" and under "pong".
struct Slots {
  lua_Integer ping;
  lua_Integer pong;
};

lua_Integer& SlotOf(lua_State* L) {
  auto* slots = static_cast<Slots*>(lua_touserdata(L, 1));
  const char* key = lua_tostring(L, 2);
  return key[1] == 'i' ? slots->ping : slots->pong;
}

int Send(lua_State* L) {
  SlotOf(L) = lua_tointeger(L, 3);
  lua_pushboolean(L, 1);
  return 1;
}

int Received(lua_State* L, int, lua_KContext) {
  lua_pushinteger(L, SlotOf(L));
  return 1;
}

int Receive(lua_State* L) { return lua_yieldk(L, 0, 0, Received); }

// [-0, +1, m]: the object.
void PushObject(lua_State* L) {
  static const luaL_Reg kMethods[] = {{"send", Send}, {"receive", Receive}, {nullptr, nullptr}};
  lua_newuserdatauv(L, sizeof(Slots), 0);
  lua_newtable(L);
  luaL_newlib(L, kMethods);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

constexpr char kPing[] = R"(
  local object = ...
  local i = 0
  while true do
    i = i + 1
    object:send("ping", i)
    object:receive("pong")
  end)";

constexpr char kPong[] = R"(
  local object = ...
  while true do
    object:send("pong", (object:receive("ping")))
  end)";

void Resume(lua_State* thread, int arguments) {
  int results = 0;
  SHOAL_CHECK(lua_resume(thread, nullptr, arguments, &results) == LUA_YIELD && results == 0);
}

}  // namespace

double LimitSpawn(long count) {
  const std::string dump = DumpedNothing();
  const Stopwatch watch;
  for (long i = 0; i < count; ++i) {
    lua_State* L = NewState();
    Load(L, dump);
    SHOAL_CHECK(lua_pcall(L, 0, 0, 0) == LUA_OK);
    lua_close(L);
  }
  return Finish(watch, count);
}

double LimitPingPong(long count) {
  lua_State* L = NewState();
  PushObject(L);
  lua_State* ping = lua_newthread(L);
  lua_State* pong = lua_newthread(L);
  Load(pong, kPong);
  lua_pushvalue(L, 1);
  lua_xmove(L, pong, 1);
  Load(ping, kPing);
  lua_pushvalue(L, 1);
  lua_xmove(L, ping, 1);
  Resume(pong, 1);  // waits for the first ball
  Resume(ping, 1);  // has sent it
  const Stopwatch watch;
  for (long i = 0; i < count; ++i) {
    Resume(pong, 0);
    Resume(ping, 0);
  }
  const double result = Finish(watch, count);
  lua_close(L);
  return result;
}

double LimitResume(long count) {
  return Run("local resume, yield = coroutine.resume, coroutine.yield "
             "local co = coroutine.create(function() while true do yield() end end) "
             "for _ = 1, ... do resume(co) end",
             count)
      .cost;
}

double LimitTable(long count) {
  return Run("local pairs = pairs for _ = 1, ... do local t = " + std::string(kTenFields) +
                 " for _ in pairs(t) do end end",
             count)
      .cost;
}

double LimitHeavyRate(long count) {
  return Run("local function heavy(n) local x = 0 for i = 1, 20000 do x = x + i % n end return x "
             "end "
             "for _ = 1, ... do heavy(7) end",
             count)
      .rate;
}

double LimitItem(long count) {
  return Run("local function f(x) return x + 1 end local results = {} "
             "for i = 1, ... do results[i] = f(i, i) end",
             count)
      .cost;
}

double ProcessorShare() { return all_wall == 0 ? 1 : all_computed / all_wall; }

double LimitStateBytes(long count) {
  std::vector<lua_State*> states;
  states.reserve(static_cast<size_t>(count));
  const double before = ResidentBytes();
  for (long i = 0; i < count; ++i) states.push_back(NewState());
  const double after = ResidentBytes();
  for (lua_State* L : states) lua_close(L);
  return (after - before) / static_cast<double>(count);
}

}  // namespace shoal::bench
