// SPDX-License-Identifier: MIT
// The rows with sockets: programs of the system that do the same, beside each other.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/base/check.h"
#include "tests/bench/contender.h"
#include "tests/bench/epoll_floor.h"
#include "tests/bench/peers.h"
#include "tests/bench/row.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

constexpr int kDownloads = 9;
constexpr int kMany = 2000;
constexpr long kTripsOfMany = 3;
constexpr int kEchoes = 200;
constexpr long kTripsOfEcho = 100;
constexpr double kAllowance = 10e6;  // for the start of a program with a runtime, in nanoseconds

// --- Downloads.

struct Download {
  double computing;
  double wall;
};

Launch DownloadBy(const std::string& who, int port) {
  const std::vector<std::string> arguments = {std::to_string(kDownloads), std::to_string(port)};
  if (who == "epoll") return [port] { return EpollDownload(kDownloads, port); };
  if (who == "shoal") return InShoal("download_shoal", 1, arguments);
  return InLua("download_" + who, arguments);
}

Download MeasureDownload(const std::string& who) {
  const int server = Listen();
  Contender peer([server] { return Trickle(server, kDownloads); });
  const Stopwatch watch;
  Contender contender(DownloadBy(who, PortOf(server)));
  SHOAL_CHECK(contender.Answer() == long{kDownloads} * kParts * kPartSize);
  const double computing = contender.Finish();
  const double wall = watch.wall();
  peer.Finish();
  close(server);
  return {computing, wall};
}

// --- Echoes.

struct Echo {
  double computing;   // of a trip
  double bytes;       // of a connection
  double per_second;  // trips
};

Launch EchoBy(const std::string& who, int connections, int workers = 1) {
  const std::string count = std::to_string(connections);
  if (who == "epoll") return [connections] { return EpollEcho(connections); };
  if (who == "shoal") return InShoal("echo_shoal", workers, {count, std::to_string(workers)});
  return InLua("echo_" + who, {count});
}

Echo MeasureEcho(const std::string& who, int connections, long trips, int workers = 1) {
  Contender contender(EchoBy(who, connections, workers));
  const std::vector<int> ports = {static_cast<int>(contender.Answer())};
  const double before = contender.Resident();
  double after = 0;
  const double passed = PlayEcho(ports, connections, trips, [&] { after = contender.Resident(); });
  const double all = static_cast<double>(trips) * connections;
  return {contender.Finish() / all, (after - before) / connections, all / passed * 1e9};
}

// Two processes, each with half of the connections.
double RateOfTwo(int connections, long trips) {
  Contender one(EchoBy("shoal", connections / 2));
  Contender other(EchoBy("shoal", connections / 2));
  const std::vector<int> ports = {static_cast<int>(one.Answer()), static_cast<int>(other.Answer())};
  const double passed = PlayEcho(ports, connections / 2, trips, [] {});
  one.Finish();
  other.Finish();
  return static_cast<double>(trips) * connections / passed * 1e9;
}

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::vector<Row> SocketRows(double scale) {
  RaiseFileLimit();
  const auto sized = [scale](long count, long least) {
    return std::max(least, std::lround(static_cast<double>(count) * scale));
  };
  const int many = static_cast<int>(sized(kMany, 20));
  const int echoes = static_cast<int>(sized(kEchoes, 20));
  const long trips = sized(kTripsOfEcho, 2);

  const auto download = [](const std::string& who) {
    return [=] { return MeasureDownload(who).computing; };
  };
  const auto download_wall = [](const std::string& who) {
    return [=] { return MeasureDownload(who).wall; };
  };
  const auto connection = [=](const std::string& who) {
    return [=] { return MeasureEcho(who, many, kTripsOfMany).computing * kTripsOfMany; };
  };
  const auto memory = [=](const std::string& who) {
    return [=] { return MeasureEcho(who, many, kTripsOfMany).bytes; };
  };
  const auto trip = [=](const std::string& who) {
    return [=] { return MeasureEcho(who, echoes, trips).computing; };
  };

  constexpr Unit kUnit = Unit::kNanoseconds;
  constexpr Time kComputing = Time::kComputing;
  std::vector<Row> rows = {
      {"9 downloads : 2 of epoll + 10 ms", kUnit, kComputing, download("shoal"),
       [] { return 2 * MeasureDownload("epoll").computing + kAllowance; }, Goal::kAtMost, 1},
      {"9 downloads, by the clock : epoll", kUnit, Time::kClock, download_wall("shoal"),
       download_wall("epoll")},
      {"2000 connections : epoll", kUnit, kComputing, connection("shoal"), connection("epoll"),
       Goal::kAtMost, 2},
      {"echo : epoll", kUnit, kComputing, trip("shoal"), trip("epoll")},
      {"echo, 2 workers : 2 OS processes", Unit::kPerSecond, Time::kClock,
       [=] { return MeasureEcho("shoal", echoes, trips, 2).per_second; },
       [=] { return RateOfTwo(echoes, trips); }, Goal::kAtLeast, 0.9},
  };
  // Others that do the same in Lua; who is not installed is left out.
  if (HasModule("socket")) {
    rows.push_back(
        {"9 downloads : LuaSocket", kUnit, kComputing, download("shoal"), download("luasocket")});
    rows.push_back({"echo : LuaSocket", kUnit, kComputing, trip("shoal"), trip("luasocket")});
  }
  const auto compare = [&](const std::string& who, const std::string& script, Goal goal) {
    rows.push_back(
        {"2000 connections : " + who, kUnit, kComputing, connection("shoal"), connection(script)});
    rows.push_back({"memory of a connection : " + who, Unit::kBytes, kComputing, memory("shoal"),
                    memory(script), goal, 1});
    rows.push_back({"echo : " + who, kUnit, kComputing, trip("shoal"), trip(script), goal, 1});
  };
  if (HasModule("cqueues")) {
    rows.push_back(
        {"9 downloads : cqueues", kUnit, kComputing, download("shoal"), download("cqueues")});
    compare("cqueues", "cqueues", Goal::kNone);
  }
  if (HasModule("luv")) {
    rows.push_back({"9 downloads : luv", kUnit, kComputing, download("shoal"), download("luv")});
    compare("luv", "luv", Goal::kAtMost);
    compare("luv in coroutines", "luv_coroutines", Goal::kNone);
  }
  return rows;
}

}  // namespace shoal::bench
