// SPDX-License-Identifier: MIT
// Pools that a C++ program calls.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using shoal::Buffer;
using shoal::Future;
using shoal::Pool;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Table;
using shoal::Value;
using shoal::Values;
using namespace std::chrono_literals;

constexpr char kBody[] = R"lua(
  local shoal = require("shoal")
  local calls = 0
  function add(a, b) return a + b end
  local exports = {}
  function exports.echo(...) return ... end
  function exports.fail(value) error(value, 0) end
  function exports.fail_here() error("with a place") end
  function exports.count() calls = calls + 1 return calls end
  function exports.id() return shoal.self().id end
  function exports.wait(name, key) return shoal.channel(name):receive(key) end
  function exports.spin() while true do end end
  function exports.die() shoal.self():cancel() shoal.sleep(60) end
  function exports.part(b, i, j) return b:sub(i, j), shoal.type(b), #b end
  function exports.stuck() return coroutine.create(print) end
  function exports.give() return function(n) return n * 10 end end
  exports.inner = { twice = function(n) return 2 * n end }
  return exports
)lua";

// A runtime with a pool of `size` processes.
struct World {
  explicit World(int size = 2) : World(shoal::PoolOptions{.body = kBody, .size = size}) {}
  explicit World(const shoal::PoolOptions& options) : pool(runtime.MakePool(options)) {
    REQUIRE(pool.error().status() == Status::kOk);
  }
  // Ends what waits with exports.wait.
  void Tell(const char* key, const Value& value) { REQUIRE(gate.Send(key, value).ok()); }
  Runtime runtime{{.workers = 2}};
  // A name is forgotten when nobody refers to the channel.
  shoal::Channel gate = runtime.OpenChannel("gate");
  Pool pool;
};

TEST_CASE("a call returns what the function returns") {
  const World world;
  CHECK(world.pool.size() == 2);
  const Result<Values> sum = world.pool.Call("add", {1, 2});
  REQUIRE(sum);
  CHECK(sum->size() == 1);
  CHECK(sum->get<int>(0) == 3);
  CHECK(world.pool.Call("inner.twice", {21})->get<int>(0) == 42);
  CHECK(world.pool.Call("string.rep", {"ab", 3})->get<std::string>(0) == "ababab");
  CHECK(world.pool.Call("echo")->empty());
  CHECK(world.pool.Call("echo", {nullptr, "found", nullptr})->size() == 3);
  const Table table{{"list", std::vector<int>{1, 2, 3}}, {"name", "x"}};
  CHECK(world.pool.Call("echo", {table})->get<Table>(0) == table);
}

TEST_CASE("an error has its value, its text and where it was raised") {
  const World world;
  const Result<Values> text = world.pool.Call("fail_here");
  CHECK(text == Status::kError);
  CHECK(text.error().message().find("with a place") != std::string_view::npos);
  CHECK(text.error().traceback().find("stack traceback") != std::string_view::npos);
  const Result<Values> table = world.pool.Call("fail", {Table{{"code", 7}}});
  CHECK(table == Status::kError);
  REQUIRE(table.error().value().get<Table>());
  CHECK(table.error().value().get<Table>()->get<int>("code") == 7);
  const Result<Values> none = world.pool.Call("no such function");
  CHECK(none == Status::kError);
  CHECK(none.error().message().find("no such function") != std::string_view::npos);
  CHECK(world.pool.Call("stuck") == Status::kError);
}

TEST_CASE("a buffer goes to Lua and back without a copy, and outlives the runtime") {
  const Buffer image = Buffer::Copy(std::string(100000, 'x') + "end");
  std::optional<Buffer> part;
  {
    const World world;
    const Result<Values> back =
        world.pool.Call("echo", image, Table{{"slice", image.Slice(5, 10)}}, Buffer());
    REQUIRE(back);
    CHECK((*back)[0].kind() == Value::Kind::kBuffer);
    REQUIRE(back->get<Buffer>(0));
    CHECK(back->get<Buffer>(0)->bytes().data() == image.bytes().data());
    const std::optional<Table> table = back->get<Table>(1);
    REQUIRE(table);
    CHECK(table->get<Buffer>("slice")->bytes().data() == image.bytes().data() + 5);
    CHECK(back->get<Buffer>(2)->empty());
    CHECK_FALSE(back->get<std::string>(0));
    const Result<Values> cut = world.pool.Call("part", image, -3, -1);
    REQUIRE(cut);
    CHECK(cut->get<std::string>(1) == "buffer");
    CHECK(cut->get<std::size_t>(2) == image.size());
    part = cut->get<Buffer>(0);
  }
  REQUIRE(part);
  CHECK(part->text() == "end");
  CHECK(part->bytes().data() == image.bytes().data() + 100000);
}

TEST_CASE("what is called must be a name or a function from Lua") {
  const World world;
  CHECK(world.pool.Call(17) == Status::kMisuse);
  CHECK(world.pool.Call(nullptr) == Status::kMisuse);
  CHECK(world.pool.Async(Table()).error().status() == Status::kMisuse);
  const Result<Values> function = world.pool.Call("give");
  REQUIRE(function);
  CHECK(world.pool.Call((*function)[0], {4})->get<int>(0) == 40);
}

TEST_CASE("a call whose time is over is cancelled") {
  const World world(1);
  CHECK(world.pool.CallFor(10ms, "spin") == Status::kTimeout);
  // The process goes on, and takes the next one.
  CHECK(world.pool.Call("add", {1, 1})->get<int>(0) == 2);
  CHECK(world.pool.CallFor(-1s, "add", {1, 1}) == Status::kMisuse);
  CHECK(world.pool.CallFor(60s, "add", {1, 1})->get<int>(0) == 2);
}

TEST_CASE("calls with equal keys are made in one process, in their order") {
  const World world(3);
  const Result<Values> first = world.pool.CallOn("key", "id");
  REQUIRE(first);
  for (int i = 0; i < 10; ++i) CHECK(world.pool.CallOn("key", "id")->vector() == first->vector());
  CHECK(world.pool.CallOn(7, "echo", {1})->get<int>(0) == 1);
  CHECK(world.pool.CallOn(Value(), "echo", {1}) == Status::kMisuse);
}

TEST_CASE("a process that dies fails its call, and is replaced") {
  const World world(1);
  const Result<Values> died = world.pool.Call("die");
  CHECK((died == Status::kCancelled || died == Status::kError));
  CHECK(world.pool.Call("add", {2, 3})->get<int>(0) == 5);
}

TEST_CASE("many threads call at the same time") {
  const World world;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&world, &wrong, t] {
      for (int i = 0; i < 200; ++i) {
        const Result<Values> sum = world.pool.Call("add", {t * 1000, i});
        if (!sum || sum->get<int>(0) != t * 1000 + i) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("at the limit, TryAsync is refused and Async waits") {
  World world({.body = kBody, .size = 1, .limit = 1});
  const Future running = world.pool.Async("wait", {"gate", "go"});
  while (running.state() == Future::State::kReady) std::this_thread::yield();
  const Future queued = world.pool.Async("add", {1, 2});
  CHECK(world.pool.TryAsync("add", {3, 4}).error().status() == Status::kFull);
  CHECK(world.pool.CallFor(10ms, "add", {3, 4}) == Status::kTimeout);
  std::thread opener([&] { world.Tell("go", "opened"); });
  const Future waited = world.pool.Async("add", {5, 6});
  opener.join();
  CHECK(running.Join()->get<std::string>(0) == "opened");
  CHECK(queued.Join()->get<int>(0) == 3);
  CHECK(waited.Join()->get<int>(0) == 11);
}

TEST_CASE("a pool of a name is got or made, and found in Lua") {
  Runtime runtime({.workers = 2});
  const Pool first = runtime.MakePool({.body = kBody, .size = 1, .name = "shared"});
  const Pool second = runtime.MakePool({.body = kBody, .size = 1, .name = "shared"});
  REQUIRE(first);
  CHECK(first == second);
  const Pool other = runtime.MakePool({.body = kBody, .size = 2, .name = "shared"});
  CHECK(other.error().status() == Status::kMisuse);
  CHECK(other.error().message().find("size") != std::string_view::npos);
}

TEST_CASE("a pool that cannot be made says why") {
  Runtime runtime({.workers = 2});
  const Pool syntax = runtime.MakePool({.body = "return ("});
  CHECK_FALSE(syntax);
  CHECK(syntax.error().status() == Status::kError);
  CHECK(syntax.error().message().find("unexpected symbol") != std::string_view::npos);
  CHECK(syntax.Call("add") == Status::kError);
  const Pool missing = runtime.MakePool({.file = "/no/such/file.lua"});
  CHECK(missing.error().status() == Status::kError);
  CHECK(missing.error().message().find("/no/such/file.lua") != std::string_view::npos);
  const Pool sizeless = runtime.MakePool({.body = "", .size = -1});
  CHECK(sizeless.error().status() == Status::kMisuse);
  CHECK(sizeless.error().message() == "option 'size' is not a positive integer");
  CHECK(Pool().error().status() == Status::kMisuse);
  CHECK(Pool().Call("add") == Status::kMisuse);
  CHECK(Pool().Close() == Status::kMisuse);
}

TEST_CASE("options of processes are bounds") {
  const World world(
      shoal::PoolOptions{.body = "return { big = function(n) return ('x'):rep(n) end }",
                         .size = 1,
                         .env = Table{{"given", 5}},
                         .libs = std::vector<std::string>{"string"},
                         .memory_limit = 1 << 20,
                         .seed = 7});
  CHECK(world.pool.Call("big", {10})->get<std::string>(0) == "xxxxxxxxxx");
  CHECK(world.pool.Call("big", {8 << 20}) == Status::kError);
  CHECK(world.pool.Call("rawget", {Table{{"a", 1}}, "a"})->get<int>(0) == 1);
  CHECK(world.pool.Call("os.time") == Status::kError);
}

TEST_CASE("a pool that is closed answers what was called before") {
  World world(1);
  const Future running = world.pool.Async("wait", {"gate", "go"});
  const Future queued = world.pool.Async("add", {1, 2});
  world.Tell("go", 1);
  CHECK(world.pool.Close().ok());
  CHECK(running.Join()->get<int>(0) == 1);
  CHECK(queued.Join()->get<int>(0) == 3);
  CHECK(world.pool.Call("add", {1, 2}) == Status::kClosed);
  CHECK(world.pool.Async("add").error().status() == Status::kClosed);
  CHECK(world.pool.Reload() == Status::kClosed);
  CHECK(world.pool.Close().ok());
}

TEST_CASE("a pool that does not end in time cancels what it runs") {
  World world(1);
  const Future running = world.pool.Async("wait", {"gate", "never"});
  while (running.state() == Future::State::kReady) std::this_thread::yield();
  const Future queued = world.pool.Async("add", {1, 2});
  CHECK(world.pool.Close(10ms) == Status::kTimeout);
  CHECK(running.Join() == Status::kCancelled);
  const Result<Values> left = queued.Join();
  CHECK((left == Status::kClosed || left == Status::kCancelled));
}

TEST_CASE("a reload loses no call") {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/reloaded.lua";
  const auto write = [&path](int version) {
    std::ofstream file(path);
    file << "local shoal = require('shoal')\n"
            "return { version = function() return "
         << version << " end }\n";
  };
  write(1);
  World world({.file = path, .size = 2});
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      int last = 0;
      while (!done) {
        const Result<Values> version = world.pool.Call("version");
        const int now = version ? version->get<int>(0).value_or(-1) : -1;
        // Calls of one thread follow each other, so they never see an older one again.
        if (now < last) ++wrong;
        last = now;
        ++calls;
      }
    });
  }
  for (int version = 2; version <= 6; ++version) {
    write(version);
    const int before = calls;
    CHECK(world.pool.Reload().ok());
    CHECK(world.pool.Call("version")->get<int>(0) == version);
    while (calls < before + 20) std::this_thread::yield();
  }
  std::ofstream(path) << "return (";
  const Result<void> broken = world.pool.Reload();
  CHECK(broken == Status::kError);
  CHECK(broken.error().message().find("reloaded.lua") != std::string_view::npos);
  CHECK(world.pool.Call("version")->get<int>(0) == 6);
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  std::remove(path.c_str());
}

TEST_CASE("the end of the runtime ends calls that threads wait in, and handles of it") {
  for (int round = 0; round < 10; ++round) {
    Pool pool;
    Future future;
    std::thread caller;
    std::atomic<bool> calls{false};
    {
      Runtime runtime({.workers = 2});
      pool = runtime.MakePool({.body = kBody, .size = 1});
      future = pool.Async("spin");
      caller = std::thread([&pool, &calls] {
        calls = true;
        const Result<Values> result = pool.Call("add", {1, 2});
        if (result) std::abort();
      });
      while (!calls) std::this_thread::yield();
    }
    caller.join();
    CHECK(pool.Call("add", {1, 2}) == Status::kClosed);
    CHECK(pool.size() == 0);
    CHECK(future.Join() == Status::kClosed);
    CHECK(future.state() == Future::State::kEnded);
    future.Cancel();
  }
}

}  // namespace
