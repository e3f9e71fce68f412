// SPDX-License-Identifier: MIT
// Selects of threads of the program: exactly one case happens.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/eventually.h"

namespace {

using shoal::Case;
using shoal::Channel;
using shoal::Process;
using shoal::Result;
using shoal::Runtime;
using shoal::Selected;
using shoal::Status;
using shoal::Values;
using shoal::core::Times;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

struct World {
  Runtime runtime{{.workers = 2}};
  const Channel a = runtime.OpenChannel("a");
  const Channel b = runtime.OpenChannel("b");
};

TEST_CASE("the first case that is ready happens, and no other") {
  World w;
  REQUIRE(w.a.Send("k", 1).ok());
  REQUIRE(w.b.Send("k", 2, "two").ok());
  const Result<Selected> selected =
      shoal::Select({Case::Receive(w.a, "none"), Case::Receive(w.b, "k"), Case::Receive(w.a, "k"),
                     Case::Send(w.a, "sent", 3)},
                    kPatience);
  REQUIRE(selected);
  CHECK(selected->index == 1);
  CHECK(*selected->result == Values{2, "two"});
  CHECK(*w.a.Count("k") == 1);
  CHECK(*w.a.Count("sent") == 0);
}

TEST_CASE("a send is a case, with several values or a Values") {
  World w;
  REQUIRE(w.a.SetLimit("full", 1).ok());
  REQUIRE(w.a.Send("full", 0).ok());
  const Values values{"x", 2};
  Result<Selected> selected =
      shoal::Select({Case::Send(w.a, "full", 1), Case::Send(w.b, "k", values)}, kPatience);
  REQUIRE(selected);
  CHECK(selected->index == 1);
  CHECK(selected->result->empty());
  CHECK(*w.b.Receive("k") == values);
  selected = shoal::Select({Case::Send(w.b, "k", 1, true)}, kPatience);
  REQUIRE(selected);
  CHECK(*w.b.Receive("k") == Values{1, true});
}

TEST_CASE("what becomes ready first happens, after a wait") {
  World w;
  const Process process = w.runtime.Spawn(R"lua(
    local shoal = require("shoal")
    local a, b = shoal.channel("a"), shoal.channel("b")
    a:receive("go")
    b:send("k", "late")
    a:receive("go")
    return "ended"
  )lua");
  std::thread opener([&] { static_cast<void>(w.a.Send("go", 1)); });
  Result<Selected> selected = shoal::Select(
      {Case::Receive(w.a, "never"), Case::End(process), Case::Receive(w.b, "k")}, kPatience);
  opener.join();
  REQUIRE(selected);
  CHECK(selected->index == 2);
  CHECK(*selected->result == Values{"late"});
  REQUIRE(w.a.Send("go", 1).ok());
  selected = shoal::Select({Case::Receive(w.a, "never"), Case::End(process)}, kPatience);
  REQUIRE(selected);
  CHECK(selected->index == 1);
  CHECK(*selected->result == Values{"ended"});
}

TEST_CASE("ends of processes and calls bring what their joins bring") {
  World w;
  const Process bad = w.runtime.Spawn("error('no luck', 0)");
  Result<Selected> selected = shoal::Select({Case::End(bad)}, kPatience);
  REQUIRE(selected);
  CHECK(selected->result == Status::kError);
  CHECK(selected->result.error().message() == "no luck");

  const shoal::Pool pool = w.runtime.MakePool({.body = R"lua(
    local exports = {}
    function exports.add(a, b) return a + b end
    function exports.wait() return require("shoal").channel("a"):receive("go") end
    return exports
  )lua",
                                               .size = 2});
  const shoal::Future waits = pool.Async("wait", 0);
  const shoal::Future adds = pool.Async("add", 1, 2);
  selected = shoal::Select({Case::End(waits), Case::End(adds)}, kPatience);
  REQUIRE(selected);
  CHECK(selected->index == 1);
  CHECK(*selected->result == Values{3});
  REQUIRE(w.a.Send("go", "gone").ok());
  selected = shoal::Select({Case::End(waits), Case::Receive(w.a, "never")}, kPatience);
  REQUIRE(selected);
  CHECK(*selected->result == Values{"gone"});
}

TEST_CASE("a closed channel is ready, and says so in its case") {
  World w;
  REQUIRE(w.a.Send("k", 1).ok());
  REQUIRE(w.a.Close("k").ok());
  Result<Selected> selected =
      shoal::Select({Case::Receive(w.b, "k"), Case::Receive(w.a, "k")}, kPatience);
  REQUIRE(selected);
  CHECK(*selected->result == Values{1});
  selected = shoal::Select({Case::Receive(w.b, "k"), Case::Receive(w.a, "k")}, kPatience);
  REQUIRE(selected);
  CHECK(selected->index == 1);
  CHECK(selected->result == Status::kClosed);
  std::thread closer([&] { static_cast<void>(w.b.Close()); });
  selected = shoal::Select({Case::Receive(w.b, "k")}, kPatience);
  closer.join();
  REQUIRE(selected);
  CHECK(selected->result == Status::kClosed);
}

TEST_CASE("a select whose time is over has done nothing") {
  World w;
  REQUIRE(w.a.SetLimit("full", 0).ok());
  for (const auto timeout : {0ms, 5ms}) {
    CHECK(shoal::Select({Case::Receive(w.a, "k"), Case::Send(w.a, "full", 1)}, timeout) ==
          Status::kTimeout);
    CHECK(*w.a.Count("full") == 0);
    CHECK(w.a.TryReceive("full") == Status::kEmpty);
  }
}

TEST_CASE("misuse of a select says which case, and what to change") {
  World w;
  World other;
  const auto wrong = [&](const Case& one) {
    const Result<Selected> selected = shoal::Select({Case::Receive(w.a, "k"), one}, kPatience);
    CHECK(selected == Status::kMisuse);
    return std::string(selected.error().message());
  };
  CHECK(wrong(Case::Receive(Channel(), "k")) == "case 1: this handle stands for no channel");
  CHECK(wrong(Case::Receive(other.a, "k")) == "case 1: the handle is one of another runtime");
  CHECK(wrong(Case::Send(w.b, "k")) == "case 1: the first value of a message must not be nil");
  CHECK(wrong(Case::Send(w.b, "k", shoal::Value())).find("not be nil") != std::string::npos);
  CHECK(wrong(Case::End(Process())) == "case 1: this handle stands for no process");
  CHECK(wrong(Case::End(shoal::Future())) == "case 1: this future is of no call");
  CHECK(wrong(Case::Receive(w.b, shoal::Key(shoal::Handle()))).starts_with("case 1: "));
  CHECK(shoal::Select(std::initializer_list<Case>{}) == Status::kMisuse);
  CHECK(shoal::Select({Case::Receive(w.a, "k")}, -1s) == Status::kMisuse);
  // On a thread that runs a process, nobody may wait; but what is ready is no wait.
  std::atomic<bool> ready{false};
  std::atomic<bool> refused{false};
  REQUIRE(w.runtime
              .SetGlobal("choose",
                         [&] {
                           ready = shoal::Select({Case::Send(w.a, "seen", 1)}).ok();
                           refused =
                               shoal::Select({Case::Receive(w.a, "never")}, 1s) == Status::kMisuse;
                         })
              .ok());
  REQUIRE(w.runtime.Spawn("choose()").Join(kPatience).ok());
  CHECK(ready);
  CHECK(refused);
}

TEST_CASE("the end of the runtime ends a select") {
  for (int i = 0; i < Times(100); ++i) {
    std::optional<World> w(std::in_place);
    const Channel a = w->a;
    std::atomic<bool> begun{false};
    std::atomic<bool> closed{false};
    std::thread waiter([&] {
      begun = true;
      const Result<Selected> selected = shoal::Select({Case::Receive(a, "k")}, kPatience);
      closed = selected == Status::kClosed;
    });
    CHECK(shoal::core::Eventually([&] { return begun.load(); }));
    // Before the wait, or in it.
    if (i % 2 == 0) std::this_thread::sleep_for(1ms);
    w.reset();
    waiter.join();
    CHECK(closed);
  }
}

// Each message is received once, whoever selects, sends or receives, and by whatever case.
TEST_CASE("selects that send and receive the same keys meet, and lose nothing") {
  World w;
  REQUIRE(w.a.SetLimit("k", 0).ok());
  REQUIRE(w.b.SetLimit("k", 1).ok());
  const int count = Times(4000);
  std::atomic<int> sent{0};
  std::atomic<std::int64_t> sent_sum{0};
  std::atomic<int> received{0};
  std::atomic<std::int64_t> received_sum{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < count; ++i) {
        const int value = 2 * i + t;
        const Result<Selected> done =
            i % 2 == 0 ? shoal::Select({Case::Send(w.a, "k", value), Case::Send(w.b, "k", value)},
                                       kPatience)
                       : shoal::Select({Case::Send(w.b, "k", value), Case::Send(w.a, "k", value)},
                                       kPatience);
        if (!done || !done->result) ++wrong;
        ++sent;
        sent_sum += value;
      }
    });
    threads.emplace_back([&] {
      while (received < 2 * count) {
        const Result<Selected> got = shoal::Select(
            {Case::Receive(w.a, "k"), Case::Receive(w.b, "k"), Case::Receive(w.b, "stop")},
            kPatience);
        if (!got || !got->result) {
          ++wrong;
          return;
        }
        if (got->index == 2) return;
        ++received;
        received_sum += got->result->get<int>(0).value_or(-1);
      }
      // The others may wait for one that will not come.
      static_cast<void>(w.b.Send("stop", true));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(sent == 2 * count);
  CHECK(received == sent);
  CHECK(received_sum == sent_sum);
}

}  // namespace
