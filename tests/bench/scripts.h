// SPDX-License-Identifier: MIT
// The scripts that are measured, run as they are in a program: each in a runtime of its own.
//
// What counts is the time between two moments when all processes of the script stand ready: they
// are there, and have done a few rounds.
#pragma once

#include <string>

namespace shoal::bench {

// The table of the row of tables, in Lua.
extern const char kTenFields[];

// What a script may take from the benchmark.
struct Setting {
  int workers = 1;
  long count = 0;         // rounds, laps, messages or processes
  int pairs = 1;          // of players
  std::string timeout{};  // what receive has as its timeout, in Lua; empty: none
};

// All return nanoseconds, for one operation. With one worker it is the time of computing in all
// threads (os.clock), so that the load of the machine matters less; with more, it is that of a
// clock (shoal.now).

double SpawnRunExit(const Setting& setting);
// The same with the module lanes: `gen(…)()`, and the join.
double StartAndJoin(const Setting& setting);
// A round trip.
double PingPong(const Setting& setting);
// A message.
double OneWayInt(const Setting& setting);
double OneWayTable(const Setting& setting);
// A message of those that are sent and received 64 at a time.
double OneWayBatch(const Setting& setting);
// A message whose value is `value`, Lua in which `megabyte` is a string of that size. One at a time
// is under way.
double OneWayLarge(const Setting& setting, const std::string& value);
// Messages in a second from `pairs` senders to one receiver.
double FanInRate(const Setting& setting);
// A hop in a ring of kRing.
constexpr int kRing = 503;
double Ring(const Setting& setting);

// Round trips of all pairs in a second, always by the clock.
double PairsRate(const Setting& setting);

// Items in a second of a shoal.map of a function that computes for long, with the start and the end
// of its processes.
double HeavyMapRate(const Setting& setting);
// An item of a shoal.map of a function that does next to nothing.
double LightMap(const Setting& setting);
// A call of a function that does next to nothing in a pool of `pairs` processes.
double PoolCall(const Setting& setting);

// The bytes of a process that waits under a key of its own. Call it in a process of the system of
// its own.
double WaitingBytes(const Setting& setting);

}  // namespace shoal::bench
