// SPDX-License-Identifier: MIT
#include "tests/bench/latency.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <random>
#include <thread>
#include <utility>

#include "bindings/lua/shoal_library.h"
#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/futex.h"
#include "runtime/channel/channel.h"
#include "runtime/message/number.h"
#include "runtime/process/spawn_options.h"
#include "runtime/runtime.h"
#include "tests/support/script_runner.h"

namespace shoal::bench {

namespace {

using core::TimePoint;

// Some messages first: threads are there, and what is used is in the caches.
constexpr long kWarmUp = 5;
// A message comes at any time of a slice.
constexpr int kLongestPause = 12500;  // microseconds

constexpr char kChannel[] = "latency";
constexpr char kKey[] = "message";
constexpr char kBesideBusyLoop[] = R"(
local shoal = require("shoal")
local ch = shoal.channel("latency")
local busy = shoal.spawn(function() while true do end end)
for _ in ch:each("message") do arrived() end
busy:cancel(5)
)";

struct Arrivals {
  TimePoint last;  // published by count
  std::atomic<std::uint32_t> count{0};
};

int Arrived(lua_State* L) {
  auto* arrivals = static_cast<Arrivals*>(lua_touserdata(L, lua_upvalueindex(1)));
  arrivals->last = std::chrono::steady_clock::now();
  arrivals->count.fetch_add(1);
  core::FutexWake(arrivals->count, 1);
  return 0;
}

// The body of the script; its argument is the Arrivals.
int RunBody(lua_State* L) {
  lua_pushcclosure(L, Arrived, 1);
  lua_setglobal(L, "arrived");
  if (luaL_loadstring(L, kBesideBusyLoop) != LUA_OK) return lua_error(L);
  const auto done = [](lua_State*, int, lua_KContext) { return 0; };
  lua_callk(L, 0, 0, 0, done);
  return 0;
}

double Nanoseconds(core::Duration duration) { return static_cast<double>(duration.count()); }

// Sleeps as the tick thread does, in a futex until a deadline. Returns how late it was.
core::Duration Pause(core::Duration duration) {
  const std::atomic<std::uint32_t> never{0};
  const TimePoint end = std::chrono::steady_clock::now() + duration;
  core::FutexWait(never, 0, end);
  return std::chrono::steady_clock::now() - end;
}

// Sends one message. Returns how long it took to arrive.
core::Duration Send(core::Channel& channel, Arrivals& arrivals) {
  const std::uint32_t before = arrivals.count.load();
  core::Number sum;
  std::uint32_t generation = 0;
  const TimePoint start = std::chrono::steady_clock::now();
  SHOAL_CHECK(channel.Increment(core::KeyName::String(kKey), std::int64_t{1}, core::kNever, &sum,
                                &generation) == core::Status::kOk);
  while (arrivals.count.load() == before) core::FutexWait(arrivals.count, before, core::kNever);
  return arrivals.last - start;
}

}  // namespace

Latencies LatenciesBesideBusyLoop(long count) {
  const core::SteadyClock clock;
  test::CollectedLog log;
  const bindings::ShoalLibrary library;
  core::Runtime runtime({.workers = 1, .clock = clock, .log = log, .library = library});
  SHOAL_CHECK(runtime.Start() == core::Status::kOk);
  Arrivals arrivals;
  core::SpawnOptions options;
  options.main = RunBody;
  options.main_context = &arrivals;
  SHOAL_CHECK(runtime.SpawnScript(std::move(options)) == core::Status::kOk);
  core::Ref<core::Channel> channel;
  while (!channel) {
    std::this_thread::yield();
    channel = runtime.machine().channels.Find(kChannel);
  }

  Latencies result;
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same pauses in each run
  std::uniform_int_distribution<int> pauses(0, kLongestPause);
  for (long i = -kWarmUp; i < count; ++i) {
    const core::Duration late = Pause(std::chrono::microseconds(pauses(random)));
    const core::Duration latency = Send(*channel, arrivals);
    if (i < 0) continue;
    result.wake_ups.push_back(Nanoseconds(late));
    result.messages.push_back(Nanoseconds(latency));
  }
  channel->Close();
  channel = {};
  SHOAL_CHECK(runtime.WaitForEnd() == 0);
  SHOAL_CHECK(runtime.Shutdown(std::chrono::seconds(10)));
  return result;
}

double SharedLatencies::Percentile(Of which, int percent) {
  std::vector<int>* had = &had_[which == Of::kMessages ? 0 : 1];
  if (measured_.messages.empty() || std::find(had->begin(), had->end(), percent) != had->end()) {
    measured_ = LatenciesBesideBusyLoop(count_);
    for (std::vector<int>& of_one : had_) of_one.clear();
  }
  had->push_back(percent);
  std::vector<double> values = which == Of::kMessages ? measured_.messages : measured_.wake_ups;
  std::sort(values.begin(), values.end());
  const std::size_t index = (values.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return values[std::max<std::size_t>(index, 1) - 1];
}

}  // namespace shoal::bench
