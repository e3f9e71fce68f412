// SPDX-License-Identifier: MIT
#include "tests/bench/scripts.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <lua.hpp>
#include <utility>

#include "bindings/lua/shoal_library.h"
#include "runtime/base/clock.h"
#include "runtime/process/spawn_options.h"
#include "runtime/runtime.h"
#include "tests/bench/forked.h"
#include "tests/support/script_runner.h"

namespace shoal::bench {

const char kTenFields[] =
    "{ id = 503, name = 'shoal', kind = 'fish', x = 1.5, y = -2.25, z = 1e9,"
    " count = 100000, alive = true, depth = 12, note = 'a light process' }";

namespace {

// Before each script. `player` starts a process that goes through `step` a few times, then waits
// until all have, and goes through it as often as asked.
constexpr char kPrelude[] = R"(
local shoal = require("shoal")
local gate = shoal.channel()
local players = 0

local function player(step, ...)
  players = players + 1
  shoal.spawn(function(gate, warm_up, count, step, ...)
    step(warm_up, ...)
    gate:send("ready", true)
    gate:receive("go")
    step(count, ...)
    gate:send("done", true)
  end, gate, math.min(count, warm_up), count, step, ...)
end

local function play()
  for _ = 1, players do gate:receive("ready") end
  local start = clock()
  for _ = 1, players do gate:send("go", true) end
  for _ = 1, players do gate:receive("done") end
  report(clock() - start)
end
)";

constexpr char kSpawn[] = R"(
local nothing = function() end
local start = clock()
for _ = 1, count // 50 do
  for _ = 1, 50 do shoal.spawn(nothing) end
  shoal.wait()
end
report(clock() - start)
)";

constexpr char kStartAndJoin[] = R"(
local start_one = require("lanes").configure().gen("*", function() end)
for _ = 1, 20 do start_one():join() end
local start = clock()
for _ = 1, count do start_one():join() end
report(clock() - start)
)";

constexpr char kPingPong[] = R"(
local function ping(n, ch, timeout)
  for i = 1, n do
    ch:send("ping", i)
    ch:receive("pong", timeout)
  end
end
local function pong(n, ch, timeout)
  for _ = 1, n do
    ch:send("pong", (ch:receive("ping", timeout)))
  end
end
-- Without a timeout, the calls have no argument for it.
local function ping_untimed(n, ch)
  for i = 1, n do
    ch:send("ping", i)
    ch:receive("pong")
  end
end
local function pong_untimed(n, ch)
  for _ = 1, n do
    ch:send("pong", (ch:receive("ping")))
  end
end
for _ = 1, pairs_of_players do
  local ch = shoal.channel()
  player(timeout and pong or pong_untimed, ch, timeout)
  player(timeout and ping or ping_untimed, ch, timeout)
end
play()
)";

// A limit, as a program should have: the sender waits when the receiver is behind.
constexpr char kOneWay[] = R"(
local ch = shoal.channel({ limit = 256 })
player(function(n, ch)
  for _ = 1, n do ch:receive("way") end
end, ch)
player(function(n, ch, value)
  for _ = 1, n do ch:send("way", value) end
end, ch, value)
play()
)";

// The senders have what they send; the receiver makes its lists.
constexpr char kBatches[] = R"(
local ch = shoal.channel({ limit = 256 })
player(function(n, ch)
  local left = n // 64 * 64
  while left > 0 do left = left - #ch:receive_batch("way", 64) end
end, ch)
player(function(n, ch)
  local list = {}
  for i = 1, 64 do list[i] = i end
  for _ = 1, n // 64 do ch:send_batch("way", list) end
end, ch)
play()
)";

constexpr char kLarge[] = R"(
local ch = shoal.channel({ limit = 1 })
local megabyte = ("x"):rep(1 << 20)
warm_up = 3
player(function(n, ch)
  for _ = 1, n do ch:receive("way") end
end, ch)
player(function(n, ch, value)
  for _ = 1, n do ch:send("way", value) end
end, ch, VALUE)
play()
)";

constexpr char kFanIn[] = R"(
local ch = shoal.channel({ limit = 256 })
player(function(n, ch, senders)
  for _ = 1, n * senders do ch:receive("way") end
end, ch, senders)
for _ = 1, senders do
  player(function(n, ch)
    for i = 1, n do ch:send("way", i) end
  end, ch)
end
play()
)";

constexpr char kRingScript[] = R"(
local ch = shoal.channel()
for i = 2, size do
  player(function(n, ch, from, to)
    for _ = 1, n do ch:send(to, (ch:receive(from))) end
  end, ch, i, i % size + 1)
end
player(function(n, ch)
  for i = 1, n do
    ch:send(2, i)
    ch:receive(1)
  end
end, ch)
play()
)";

constexpr char kWaiting[] = R"(
local ch = shoal.channel()
local function start(from, to)
  for i = from, to do
    shoal.spawn(function(gate, ch, key)
      gate:send("ready", true)
      ch:receive(key)
    end, gate, ch, i)
  end
  for _ = from, to do gate:receive("ready") end
  shoal.yield()
end
start(1, 10)
local before = resident()
start(11, 10 + count)
report((resident() - before) * 1e-9)
for i = 1, 10 + count do ch:send(i, true) end
)";

constexpr char kMapHeavy[] = R"(
local function heavy(n)
  local x = 0
  for i = 1, 20000 do x = x + i % n end
  return x
end
local list = {}
for i = 1, count do list[i] = 7 end
local start = clock()
shoal.map(heavy, list)
report(clock() - start)
)";

constexpr char kMapLight[] = R"(
local list = {}
for i = 1, count do list[i] = i end
local start = clock()
shoal.map(function(x) return x + 1 end, list)
report(clock() - start)
)";

constexpr char kPoolCall[] = R"(
local pool = shoal.pool({ size = size, body = "return { add = function(x) return x + 1 end }" })
for i = 1, warm_up do pool:call("add", i) end
local start = clock()
for i = 1, count do pool:call("add", i) end
report(clock() - start)
)";

struct Script {
  std::string source;
  double reported = -1;
};

int Report(lua_State* L) {
  auto* script = static_cast<Script*>(lua_touserdata(L, lua_upvalueindex(1)));
  script->reported = luaL_checknumber(L, 1);
  return 0;
}

int Resident(lua_State* L) {
  lua_pushnumber(L, ResidentBytes());
  return 1;
}

// The body of the script; its argument is a Script.
int RunBody(lua_State* L) {
  auto* script = static_cast<Script*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  lua_pushlightuserdata(L, script);
  lua_pushcclosure(L, Report, 1);
  lua_setglobal(L, "report");
  lua_pushcfunction(L, Resident);
  lua_setglobal(L, "resident");
  if (luaL_loadbuffer(L, script->source.data(), script->source.size(), "=bench") != LUA_OK) {
    return lua_error(L);
  }
  const auto done = [](lua_State*, int, lua_KContext) { return 0; };
  lua_callk(L, 0, 0, 0, done);
  return 0;
}

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "bench: a script failed: %s\n", what.c_str());
  std::exit(EXIT_FAILURE);
}

// What the script reported: seconds, divided by `operations`, as nanoseconds.
double Run(const Setting& setting, const std::string& locals, const char* text, double operations) {
  const bool alone = setting.workers == 1 && setting.pairs == 1;
  Script script;
  script.source = std::string("local clock = ") + (alone ? "os.clock" : "require('shoal').now") +
                  " local count, warm_up = " + std::to_string(setting.count) + ", 100 " + locals +
                  kPrelude + text;
  const core::SteadyClock clock;
  test::CollectedLog log;
  const bindings::ShoalLibrary library;
  core::Runtime runtime(
      {.workers = setting.workers, .clock = clock, .log = log, .library = library});
  if (runtime.Start() != core::Status::kOk) Fail("the runtime does not start");
  core::SpawnOptions options;
  options.main = RunBody;
  options.main_context = &script;
  if (runtime.SpawnScript(std::move(options)) != core::Status::kOk) Fail("it does not start");
  const int status = runtime.WaitForEnd();
  if (!runtime.Shutdown(std::chrono::seconds(10))) Fail("the runtime does not end");
  if (status != 0 || script.reported < 0) Fail(log.text());
  return script.reported * 1e9 / operations;
}

}  // namespace

double SpawnRunExit(const Setting& setting) {
  return Run(setting, "", kSpawn, static_cast<double>(setting.count));
}

double StartAndJoin(const Setting& setting) {
  return Run(setting, "", kStartAndJoin, static_cast<double>(setting.count));
}

double PingPong(const Setting& setting) {
  const std::string timeout = setting.timeout.empty() ? "nil" : setting.timeout;
  return Run(setting,
             "local pairs_of_players, timeout = " + std::to_string(setting.pairs) + ", " + timeout,
             kPingPong, static_cast<double>(setting.count) * setting.pairs);
}

double PairsRate(const Setting& setting) { return 1e9 / PingPong(setting); }

double OneWayInt(const Setting& setting) {
  return Run(setting, "local value = 503", kOneWay, static_cast<double>(setting.count));
}

double OneWayTable(const Setting& setting) {
  return Run(setting, std::string("local value = ") + kTenFields, kOneWay,
             static_cast<double>(setting.count));
}

double Ring(const Setting& setting) {
  return Run(setting, "local size = " + std::to_string(kRing) + " warm_up = 1", kRingScript,
             static_cast<double>(setting.count) * kRing);
}

double HeavyMapRate(const Setting& setting) {
  return 1e9 / Run(setting, "", kMapHeavy, static_cast<double>(setting.count));
}

double LightMap(const Setting& setting) {
  return Run(setting, "", kMapLight, static_cast<double>(setting.count));
}

double OneWayBatch(const Setting& setting) {
  const long sent = setting.count - setting.count % 64;
  return Run(setting, "", kBatches, static_cast<double>(sent));
}

double OneWayLarge(const Setting& setting, const std::string& value) {
  std::string text = kLarge;
  text.replace(text.find("VALUE"), 5, value);
  return Run(setting, "", text.c_str(), static_cast<double>(setting.count));
}

double FanInRate(const Setting& setting) {
  // The time of computing, as with one pair.
  const Setting alone{.count = setting.count / setting.pairs};
  return 1e9 / Run(alone, "local senders = " + std::to_string(setting.pairs), kFanIn,
                   static_cast<double>(alone.count * setting.pairs));
}

double PoolCall(const Setting& setting) {
  const Setting alone{.count = setting.count};
  return Run(alone, "local size = " + std::to_string(setting.pairs), kPoolCall,
             static_cast<double>(setting.count));
}

double WaitingBytes(const Setting& setting) {
  return Run(setting, "", kWaiting, static_cast<double>(setting.count));
}

}  // namespace shoal::bench
