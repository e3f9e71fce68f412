// SPDX-License-Identifier: MIT
// Processes as C++ programs use them.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <lua.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"

namespace {

using shoal::Channel;
using shoal::Process;
using shoal::ProcessState;
using shoal::Result;
using shoal::Runtime;
using shoal::Source;
using shoal::SpawnOptions;
using shoal::Status;
using shoal::Table;
using shoal::Value;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kLong = 60s;  // matters only if a test fails

struct Fixture {
  Runtime runtime{{.workers = 2}};
  Channel ch = runtime.NewChannel();
};

TEST_CASE_METHOD(Fixture, "a process runs source, and returns its results") {
  const Process process = runtime.Spawn("return ..., 'more', { x = 1 }", {42});
  REQUIRE(process);
  const Result<Values> results = process.Join(kLong);
  REQUIRE(results);
  CHECK(results->get<int>(0) == 42);
  CHECK(results->get<Table>(2)->get<int>("x") == 1);
  CHECK(process.State() == Status::kOk);
  CHECK(*process.State() == ProcessState::kDone);
  CHECK(process.Join(0s));
}

TEST_CASE_METHOD(Fixture, "a process runs a file") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/body.lua";
  std::ofstream(path) << "local a, b = ... return a + b";
  CHECK(*runtime.SpawnFile(path, {1, 2}).Join(kLong) == Values{3});
  std::remove(path.c_str());
  const Process missing = runtime.SpawnFile(path);
  CHECK_FALSE(missing);
  CHECK(missing.error().status() == Status::kError);
  CHECK(missing.error().message().find("body.lua") != std::string_view::npos);
}

int Multiply(lua_State* L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) * luaL_checkinteger(L, 2));
  return 1;
}

TEST_CASE_METHOD(Fixture, "a process runs a C function") {
  CHECK(*runtime.Spawn(Multiply, {6, 7}).Join(kLong) == Values{42});
  const Result<Values> failed = runtime.Spawn(Multiply, {"x"}).Join(kLong);
  CHECK(failed == Status::kError);
  CHECK(failed.error().message().find("number expected") != std::string_view::npos);
  CHECK(runtime.Spawn(Source(Source::CFunction(nullptr))).error().status() == Status::kMisuse);
}

TEST_CASE_METHOD(Fixture, "a syntax error starts nothing") {
  const Process process = runtime.Spawn("return (");
  CHECK_FALSE(process);
  CHECK(process.error().status() == Status::kError);
  CHECK(process.error().message().find("[string \"return (\"]:1:") == 0);
  CHECK(process.Join() == Status::kError);
  CHECK(process.id() == 0);
}

TEST_CASE_METHOD(Fixture, "an error comes with its value and its traceback") {
  Result<Values> result = runtime.Spawn("error('boom')").Join(kLong);
  CHECK(result == Status::kError);
  CHECK(result.error().message() == "[string \"error('boom')\"]:1: boom");
  CHECK(result.error().traceback().find("stack traceback") != std::string_view::npos);
  result = runtime.Spawn("error({ code = 5 })").Join(kLong);
  CHECK(result == Status::kError);
  CHECK(result.error().value().get<Table>()->get<int>("code") == 5);
}

TEST_CASE_METHOD(Fixture, "a process is cancelled") {
  const Process process = runtime.Spawn(
      "local ch = ... local x <close> = setmetatable({}, { __close = function() "
      "ch:send('closed', true) end }) ch:send('ready', true) ch:receive('never')",
      {ch});
  REQUIRE(ch.Receive("ready", kLong));
  CHECK(process.Join(0s) == Status::kTimeout);
  CHECK(process.Join(1ms) == Status::kTimeout);
  CHECK(process.Cancel(kLong));
  CHECK(ch.TryReceive("closed"));
  CHECK(process.Join(kLong) == Status::kCancelled);
  CHECK(*process.State() == ProcessState::kCancelled);
  CHECK(process.Cancel());
}

TEST_CASE_METHOD(Fixture, "a busy process is cancelled, too") {
  const Process process = runtime.Spawn("local ch = ... ch:send(1, 1) while true do end", {ch});
  REQUIRE(ch.Receive(1, kLong));
  REQUIRE(process.Cancel());
  CHECK(process.Join(kLong) == Status::kCancelled);
}

TEST_CASE_METHOD(Fixture, "the end of a process is told to a channel") {
  const Process process = runtime.Spawn("local ch = ... ch:receive('go') error('boom', 0)", {ch});
  REQUIRE(process.SendEndTo(ch, "end"));
  const Result<shoal::Monitor> second = process.SendEndTo(ch, "no");
  REQUIRE(second);
  CHECK(second->Cancel());
  CHECK_FALSE(second->Cancel());
  REQUIRE(ch.Send("go", 1));
  CHECK(*ch.Receive("end", kLong) == Values{process.id(), "error", "boom"});
  REQUIRE(process.SendEndTo(ch, "late"));
  CHECK(*ch.Receive("late", kLong) == Values{process.id(), "error", "boom"});
  CHECK(*ch.Count("no") == 0);
}

TEST_CASE_METHOD(Fixture, "processes are found while they run") {
  const SpawnOptions options{.name = "worker"};
  const Process process =
      runtime.Spawn(options, "local ch = ... ch:send(1, 1) ch:receive('go')", {ch});
  REQUIRE(ch.Receive(1, kLong));
  CHECK(*runtime.FindProcess("worker") == process);
  CHECK(*runtime.FindProcess(process.id()) == process);
  CHECK(process.name() == "worker");
  CHECK(runtime.Processes()->size() == 1);
  CHECK(process.Stats()->memory > 0);
  // It is counted behind the send.
  CHECK(shoal::core::Eventually([&] { return process.Stats()->sent == 1; }));
  REQUIRE(ch.Send("go", 1));
  REQUIRE(process.Join(kLong));
  CHECK(runtime.FindProcess("worker") == Status::kNotFound);
  CHECK(runtime.FindProcess(process.id()) == Status::kNotFound);
}

TEST_CASE_METHOD(Fixture, "the end of all processes is waited for") {
  CHECK(runtime.Wait(0s));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(runtime.Spawn("local ch = ... ch:receive('go')", {ch}));
  }
  const SpawnOptions daemon{.daemon = true};
  REQUIRE(runtime.Spawn(daemon, "local ch = ... ch:receive('never')", {ch}));
  CHECK(runtime.Wait(0s) == Status::kTimeout);
  CHECK(runtime.Wait(1ms) == Status::kTimeout);
  for (int i = 0; i < 20; ++i) REQUIRE(ch.Send("go", 1));
  CHECK(runtime.Wait(kLong));
}

TEST_CASE_METHOD(Fixture, "a process gets what its options say") {
  SpawnOptions options;
  std::string body = "return ";
  Values expected;
  SECTION("globals") {
    options.globals = Table{{"answer", 42}};
    body += "answer";
    expected = {42};
  }
  SECTION("libs") {
    options.libs = {"string", "shoal"};
    body += "table == nil, string ~= nil, (pcall(require('shoal').channel, 'name'))";
    expected = {true, true, false};
  }
  SECTION("channels") {
    options.channels = {"a"};
    body += "pcall(require('shoal').channel, 'b')";
    expected = {false, "this process may not open the channel 'b'"};
  }
  SECTION("memory_limit") {
    options.memory_limit = 1'000'000;
    body += "pcall(string.rep, 'x', 10000000)";
    expected = {false, "not enough memory"};
  }
  SECTION("seed") {
    options.seed = 7;
    body = "math.randomseed(7) local a = math.random(1000000) return a == a";
    expected = {true};
  }
  SECTION("path") {
    options.path = "here/?.lua";
    body += "package.path";
    expected = {"here/?.lua"};
  }
  const Result<Values> got = runtime.Spawn(options, body).Join(kLong);
  INFO(got.error().message());
  REQUIRE(got);
  CHECK(*got == expected);
}

TEST_CASE_METHOD(Fixture, "a process that takes too long is ended") {
  const SpawnOptions options{.cpu_limit = 10ms};
  const Result<Values> got = runtime.Spawn(options, "while true do end").Join(kLong);
  CHECK(got == Status::kError);
  CHECK(got.error().message().find("cpu limit") == 0);
}

TEST_CASE_METHOD(Fixture, "wrong options of a process say which") {
  SpawnOptions options;
  SECTION("libs") { options.libs = {"nothing"}; }
  SECTION("cpu_limit") { options.cpu_limit = 0s; }
  const Process process = runtime.Spawn(options, "return");
  CHECK_FALSE(process);
  CHECK(process.error().status() == Status::kMisuse);
  CHECK(process.error().message().find("SpawnOptions::") == 0);
}

TEST_CASE_METHOD(Fixture, "misuse of processes says what to change") {
  CHECK(Process().Join() == Status::kMisuse);
  CHECK(Process().error().status() == Status::kMisuse);
  CHECK(Process(ch).Join() == Status::kMisuse);
  CHECK(runtime.Spawn("return").Join(-1s) == Status::kMisuse);
  CHECK(runtime.Wait(-1s) == Status::kMisuse);
  Runtime other({.workers = 1});
  CHECK(runtime.Spawn("return", {other.NewChannel()}).error().status() == Status::kMisuse);
  CHECK(runtime.Spawn("return").SendEndTo(other.NewChannel(), 1) == Status::kMisuse);
  CHECK(runtime.Spawn(Source(Value(5))).error().status() == Status::kMisuse);
}

TEST_CASE_METHOD(Fixture, "a process cannot end the program") {
  const Result<Values> got = runtime.Spawn("os.exit(3)").Join(kLong);
  CHECK(got == Status::kError);
  CHECK(got.error().message().find("cannot end") != std::string_view::npos);
}

// A C function of a process, which uses a channel of C++ on a worker.
Channel* worker_channel = nullptr;
int UseOnWorker(lua_State* L) {
  const bool sent = worker_channel->TrySend("try", 1).ok();
  const bool refused = worker_channel->Receive("never") == Status::kMisuse;
  const bool there = worker_channel->Receive("try", 10s).ok();
  lua_pushboolean(L, sent && refused && there ? 1 : 0);
  return 1;
}

TEST_CASE_METHOD(Fixture, "on a thread that runs a process, what would wait is refused") {
  worker_channel = &ch;
  const Result<Values> got = runtime.Spawn(UseOnWorker).Join(kLong);
  INFO(got.error().message());
  REQUIRE(got);
  CHECK(*got == Values{true});
}

TEST_CASE_METHOD(Fixture, "many threads join one process") {
  const Process process = runtime.Spawn("local ch = ... return ch:receive('go')", {ch});
  std::atomic<int> joined{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const Result<Values> got = process.Join(i % 2 == 0 ? shoal::kForever : shoal::Timeout(kLong));
      joined += got && got->get<int>(0) == 5 ? 1 : 0;
    });
  }
  REQUIRE(ch.Send("go", 5));
  for (std::thread& thread : threads) thread.join();
  CHECK(joined == 8);
}

}  // namespace
