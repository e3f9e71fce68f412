// SPDX-License-Identifier: MIT
// The rows of C++ programs, in which threads of the program call processes.
#include <shoal/shoal.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <lua.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/row.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

constexpr long kTrips = 20000;
constexpr long kWarmUps = 100;

template <class T>
void Check(const Result<T>& result) {
  if (result) return;
  std::fprintf(stderr, "bench: %s: %s\n", ToString(result.status()),
               std::string(result.error().message()).c_str());
  std::exit(1);
}

// Nanoseconds of the clock for one of `count` calls.
template <class Call>
double TimeOf(long count, const Call& call) {
  for (long i = 0; i < kWarmUps; ++i) call(i);
  const Stopwatch watch;
  for (long i = 0; i < count; ++i) call(i);
  return watch.wall() / static_cast<double>(count);
}

// A thread sends an integer to a process, and receives it from there.
double RoundTrip(long count) {
  Runtime runtime({.workers = 1});
  const Channel channel = runtime.OpenChannel("bench");
  const Process process = runtime.Spawn(R"lua(
    local channel = require("shoal").channel("bench")
    for n in channel:each("ping") do
      channel:send("pong", n)
    end
  )lua");
  const double time = TimeOf(count, [&](long i) {
    static_cast<void>(channel.Send("ping", i));
    Check(channel.Receive("pong"));
  });
  static_cast<void>(channel.Close());
  Check(process.Join());
  return time;
}

// The same of a state of the program, whose Lua code sends and receives.
double HostRoundTrip(long count) {
  Runtime runtime({.workers = 1});
  lua_State* const L = luaL_newstate();
  luaL_openlibs(L);
  Check(OpenHost(L, runtime));
  lua_pushinteger(L, kWarmUps);
  lua_setglobal(L, "warm_ups");
  lua_pushinteger(L, count);
  lua_setglobal(L, "count");
  const bool bad = luaL_dostring(L, R"lua(
    local shoal = require("shoal")
    local channel = shoal.channel()
    local process = shoal.spawn(function()
      for n in channel:each("ping") do channel:send("pong", n) end
    end)
    local function trips(n)
      for i = 1, n do
        channel:send("ping", i)
        channel:receive("pong")
      end
    end
    trips(warm_ups)
    local start = shoal.now()
    trips(count)
    local time = shoal.now() - start
    channel:close()
    process:join()
    return time
  )lua") != LUA_OK;
  if (bad) {
    std::fprintf(stderr, "bench: %s\n", lua_tostring(L, -1));
    std::exit(1);
  }
  const double time = lua_tonumber(L, -1) * 1e9 / static_cast<double>(count);
  lua_close(L);
  return time;
}

double PoolCall(long count) {
  Runtime runtime({.workers = 1});
  const Pool pool =
      runtime.MakePool({.body = "return { add = function(n) return n + 1 end }", .size = 1});
  return TimeOf(count, [&](long i) { Check(pool.Call("add", i)); });
}

// What two threads give each other things with.
class Queue {
 public:
  void Put(long item) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      items_.push_back(item);
    }
    changed_.notify_one();
  }
  long Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty(); });
    const long item = items_.back();
    items_.pop_back();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<long> items_;
};

// The same between two threads of C++, by queues with a mutex and a condition variable.
double LimitRoundTrip(long count) {
  constexpr long kEnd = -1;
  Queue ping;
  Queue pong;
  std::thread other([&] {
    for (long item = ping.Take(); item != kEnd; item = ping.Take()) pong.Put(item);
  });
  const double time = TimeOf(count, [&](long i) {
    ping.Put(i);
    static_cast<void>(pong.Take());
  });
  ping.Put(kEnd);
  other.join();
  return time;
}

}  // namespace

std::vector<Row> EmbedRows(double scale) {
  const long trips = std::max(100L, std::lround(static_cast<double>(kTrips) * scale));
  return {
      {"host to process and back", Unit::kNanoseconds, Time::kClock,
       [=] { return RoundTrip(trips); }, [=] { return LimitRoundTrip(trips); }, Goal::kAtMost, 1.2},
      {"Lua host to process and back", Unit::kNanoseconds, Time::kClock,
       [=] { return HostRoundTrip(trips); }, [=] { return LimitRoundTrip(trips); }},
      {"pool call of a host", Unit::kNanoseconds, Time::kClock, [=] { return PoolCall(trips); },
       [=] { return LimitRoundTrip(trips); }},
  };
}

}  // namespace shoal::bench
