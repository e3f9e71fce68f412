// SPDX-License-Identifier: MIT
// A runtime without threads of its own: the host's run the processes.
#include <sched.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/runtime.h"
#include "tests/support/script_runner.h"

using namespace shoal::core;
using shoal::test::CollectedLog;
using shoal::test::RunSource;
using shoal::test::TestLibrary;

namespace {

constexpr auto kLong = std::chrono::seconds(60);

// Of this program.
int Threads() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int count = 0;
    if (word == "Threads:" && status >> count) return count;
  }
  return 0;
}

// A runtime that has been started, with the threads of the test.
class Guested {
 public:
  explicit Guested(const Clock* clock = nullptr)
      : runtime_({.threads = Scheduler::Threads::kGuests,
                  .clock = clock != nullptr ? *clock : steady_,
                  .log = log_,
                  .library = library_}) {
    REQUIRE(runtime_.Start() == Status::kOk);
  }
  ~Guested() {
    if (!ended_) CHECK(runtime_.Shutdown(std::chrono::seconds(30)));
  }
  Guested(const Guested&) = delete;
  Guested& operator=(const Guested&) = delete;

  // A process that runs the source, which stays for as long as this.
  Ref<Process> Spawn(const std::string& source) {
    sources_.push_back(std::make_unique<std::string>(source));
    SpawnOptions options;
    options.main = RunSource;
    options.main_context = sources_.back().get();
    Ref<Process> process;
    const Status status = Process::Spawn(runtime_.machine(), std::move(options), &process);
    REQUIRE(status == Status::kOk);
    return process;
  }
  bool Shutdown() {
    ended_ = true;
    return runtime_.Shutdown(std::chrono::seconds(30));
  }
  std::string log() { return log_.text(); }

  Runtime* operator->() { return &runtime_; }

 private:
  const SteadyClock steady_;
  CollectedLog log_;
  const TestLibrary library_{nullptr};
  std::vector<std::unique_ptr<std::string>> sources_;
  bool ended_ = false;
  Runtime runtime_;
};

}  // namespace

TEST_CASE("RunFor runs processes till nothing is ready, and makes no thread") {
  const int before = Threads();
  Guested runtime;
  const Ref<Process> process = runtime.Spawn(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    for i = 1, 100 do
      shoal.spawn(function(ch, i) ch:send("squares", i * i) end, ch, i)
    end
    local sum = 0
    for i = 1, 100 do sum = sum + ch:receive("squares") end
    assert(sum == 338350)
    shoal.channel("answers"):receive("never"))lua");
  CHECK(process->exit().kind() == ExitKind::kNone);
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kWaiting);
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kWaiting);
  CHECK(process->exit().kind() == ExitKind::kNone);
  runtime->machine().channels.Find("answers")->Close();
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kEmpty);
  CHECK(process->exit().kind() == ExitKind::kDone);
  CHECK(Threads() == before);
  CHECK(runtime.Shutdown());
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kClosed);
  CHECK(runtime.log().empty());
}

TEST_CASE("RunFor returns when its time is up, in the middle of a loop that waits for nothing") {
  Guested runtime;
  const Ref<Process> endless = runtime.Spawn("while true do end");
  for (int i = 0; i < 5; ++i) {
    CHECK(runtime->RunFor(std::chrono::milliseconds(1), WhenIdle::kReturn) == RunState::kReady);
  }
  CHECK(endless->usage().cpu > Duration::zero());
  // It shares the time with others.
  const Ref<Process> brief = runtime.Spawn("return 1");
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (brief->exit().kind() == ExitKind::kNone && std::chrono::steady_clock::now() < end) {
    CHECK(runtime->RunFor(std::chrono::milliseconds(20), WhenIdle::kReturn) == RunState::kReady);
  }
  CHECK(brief->exit().kind() == ExitKind::kDone);
  endless->Cancel();
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kEmpty);
  CHECK(endless->exit().kind() == ExitKind::kCancelled);
}

TEST_CASE("timers go by the clock of the host, and it learns when the next one is due") {
  ManualClock clock;
  Guested runtime(&clock);
  CHECK(runtime->TimeToDeadline() == Duration::max());
  const Ref<Process> sleeper = runtime.Spawn(R"lua(
    local shoal = require "shoal"
    shoal.sleep(3600)
    assert(not shoal.channel():receive("never", 1800)))lua");
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kWaiting);
  CHECK(runtime->TimeToDeadline() > Duration::zero());
  CHECK(runtime->TimeToDeadline() <= std::chrono::seconds(3601));
  clock.Advance(std::chrono::seconds(3599));
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kWaiting);
  clock.Advance(std::chrono::seconds(2));
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kWaiting);
  CHECK(sleeper->exit().kind() == ExitKind::kNone);
  clock.Advance(std::chrono::seconds(1801));
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kEmpty);
  CHECK(sleeper->exit().kind() == ExitKind::kDone);
}

TEST_CASE("RunFor sleeps, if it is asked to, till there are no processes") {
  Guested runtime;
  const auto begin = std::chrono::steady_clock::now();
  const Ref<Process> sleeper = runtime.Spawn(R"lua(
    local shoal = require "shoal"
    for i = 1, 5 do shoal.sleep(0.01) end
    shoal.channel("host"):receive("go"))lua");
  std::thread outside([&] {
    Ref<Channel> host;
    while (!host) {
      sched_yield();
      host = runtime->machine().channels.Find("host");
    }
    // Whether it waits by now or not.
    host->Close();
  });
  CHECK(runtime->RunFor(kLong, WhenIdle::kSleep) == RunState::kEmpty);
  outside.join();
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(50));
  CHECK(sleeper->exit().kind() == ExitKind::kDone);
  // And no longer than for its time.
  const Ref<Process> waiter = runtime.Spawn("require 'shoal'.channel('never'):receive('never')");
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kWaiting);
  CHECK(runtime->RunFor(std::chrono::milliseconds(20), WhenIdle::kSleep) == RunState::kWaiting);
  CHECK(waiter->exit().kind() == ExitKind::kNone);
}

TEST_CASE("without threads, a wait in a function that cannot yield is an error, and others go on") {
  Guested runtime;
  const Ref<Process> process = runtime.Spawn(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local ok, text = pcall(table.sort, { 2, 1 }, function() ch:receive("never") end)
    assert(not ok and text:find("no threads of its own", 1, true), text)
    -- What tasks of the same process bring can be waited for.
    local task = shoal.task(function() for i = 1, 5000 do shoal.yield() end ch:send("k", 7) end)
    local got
    table.sort({ 2, 1 }, function(a, b) got = got or ch:receive("k") return a < b end)
    assert(got == 7)
    -- What blocks does so here, and a name is looked up on the spot.
    assert(shoal.blocking(function() return 5 end) == 5)
    assert(require("socket.core").dns.toip("localhost"))
    local all = shoal.channel()
    shoal.spawn(function(ch) ch:send("k", 1) end, all)
    assert(all:receive("k") == 1))lua");
  CHECK(runtime->RunFor(kLong, WhenIdle::kSleep) == RunState::kEmpty);
  CHECK(process->exit().kind() == ExitKind::kDone);
  CHECK(runtime.Shutdown());
  CHECK(runtime.log().empty());
}

TEST_CASE("without threads, limits and the end of cleanup come through") {
  Guested runtime;
  const Ref<Process> greedy = runtime.Spawn(R"lua(
    local shoal = require "shoal"
    local p = shoal.spawn({ cpu_limit = 0.05 }, function() while true do end end)
    local ok, text = p:join()
    assert(not ok and tostring(text):find("limit"), text))lua");
  CHECK(runtime->RunFor(kLong, WhenIdle::kSleep) == RunState::kEmpty);
  CHECK(greedy->exit().kind() == ExitKind::kDone);
  const Ref<Process> stubborn = runtime.Spawn(R"lua(
    local _ <close> = setmetatable({}, { __close = function() while true do end end })
    require("shoal").channel():receive("never"))lua");
  CHECK(runtime->RunFor(kLong, WhenIdle::kReturn) == RunState::kWaiting);
  stubborn->Cancel(std::chrono::milliseconds(20));
  CHECK(runtime->RunFor(kLong, WhenIdle::kSleep) == RunState::kEmpty);
  CHECK(stubborn->exit().kind() == ExitKind::kCancelled);
}

TEST_CASE("Shutdown runs the processes to their end on the thread that calls it") {
  Guested runtime;
  std::vector<Ref<Process>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(runtime.Spawn(R"lua(
      local shoal = require "shoal"
      local closed <close> = setmetatable({}, { __close = function() shoal.sleep(0.002) end })
      if math.random(2) == 1 then shoal.channel():receive("never") end
      while true do end)lua"));
  }
  CHECK(runtime->RunFor(std::chrono::milliseconds(5), WhenIdle::kReturn) == RunState::kReady);
  // One that has never run.
  all.push_back(runtime.Spawn("while true do end"));
  CHECK(runtime.Shutdown());
  for (const Ref<Process>& process : all) CHECK(process->exit().kind() == ExitKind::kCancelled);
}

TEST_CASE("Shutdown takes the processes from a thread that runs them, asleep or not") {
  for (int i = 0; i < 40; ++i) {
    Guested runtime;
    const Ref<Process> process = runtime.Spawn(
        i % 2 == 0 ? "while true do end" : "require('shoal').channel():receive('never')");
    RunState state = RunState::kReady;
    std::thread runner([&] { state = runtime->RunFor(kLong, WhenIdle::kSleep); });
    const ProcessPhase wanted = i % 2 == 0 ? ProcessPhase::kRunning : ProcessPhase::kWaiting;
    while (process->phase() != wanted) sched_yield();
    CHECK(runtime.Shutdown());
    runner.join();
    CHECK(state == RunState::kClosed);
    CHECK(process->exit().kind() == ExitKind::kCancelled);
  }
}

TEST_CASE("a script runs without threads as with them, to its end and to a deadlock") {
  const SteadyClock clock;
  CollectedLog log;
  const TestLibrary library(nullptr);
  const std::string source = R"lua(
    local shoal = require "shoal"
    local ok, text = pcall(function() shoal.channel():receive("never") end)
    assert(not ok and text:find("deadlock"), text)
    local p = shoal.spawn(function() require("shoal").sleep(0.01) return 6 end)
    os.exit(p:result(), true))lua";
  Runtime runtime(
      {.threads = Scheduler::Threads::kGuests, .clock = clock, .log = log, .library = library});
  REQUIRE(runtime.Start() == Status::kOk);
  SpawnOptions options;
  options.main = RunSource;
  options.main_context = const_cast<std::string*>(&source);
  const Status spawned = runtime.SpawnScript(std::move(options));
  REQUIRE(spawned == Status::kOk);
  CHECK(runtime.WaitForEnd() == 6);
  CHECK(runtime.Shutdown(std::chrono::seconds(30)));
  CHECK(log.text().empty());
}
