// SPDX-License-Identifier: MIT
#include "runtime/process/call.h"

#include <catch2/catch.hpp>
#include <string>

#include "runtime/process/exit_notice.h"
#include "tests/support/script_runner.h"

using namespace shoal::core;
using shoal::test::RunScript;

namespace {

Ref<Call> NewCall() { return Ref<Call>::Adopt(new Call(MakeNumberNotice(1))); }

}  // namespace

TEST_CASE("a call ends once, as the first says") {
  const Ref<Call> call = NewCall();
  REQUIRE(call->exit().kind() == ExitKind::kNone);
  call->End(ExitKind::kDone, MakeNumberNotice(5), "");
  call->End(ExitKind::kError, nullptr, "trace");
  call->Cancel(kNever);
  call->Close();
  call->Drop();
  REQUIRE(call->exit().kind() == ExitKind::kDone);
  REQUIRE(call->exit().message() != nullptr);
  REQUIRE_FALSE(call->closed());
}

TEST_CASE("a call that is cancelled before anybody has begun with it never begins") {
  const Ref<Call> call = NewCall();
  REQUIRE_FALSE(call->begun());
  call->Cancel(kNever);
  REQUIRE(call->exit().kind() == ExitKind::kCancelled);
}

TEST_CASE("a call whose answer is dropped before it came anywhere is closed") {
  const Ref<Call> call = NewCall();
  MessagePtr message = MakeAnswerMessage(*call);
  REQUIRE(message->references().size() == 1);
  REQUIRE(call->exit().kind() == ExitKind::kNone);
  message.reset();
  REQUIRE(call->exit().kind() == ExitKind::kError);
  REQUIRE(call->closed());
}

TEST_CASE("an answer that is dropped after the end of its call changes nothing") {
  const Ref<Call> call = NewCall();
  MessagePtr message = MakeAnswerMessage(*call);
  call->End(ExitKind::kDone, nullptr, "");
  message.reset();
  REQUIRE(call->exit().kind() == ExitKind::kDone);
  REQUIRE_FALSE(call->closed());
}

// Here a pool is the least that brings calls to processes.
TEST_CASE("a call ends with the process that has begun with it, and has its error") {
  const auto run = RunScript(R"(
    local shoal = require("shoal")
    local pool = shoal.pool({ size = 1, cpu_limit = 0.02 })
    local ok, err, traceback = pool:call_for(60, function() while true do end end)
    assert(not ok and err == "cpu limit of 0.02 s reached" and traceback, err)
    ok, err, traceback = pool:call_for(60, function()
      local shoal = require("shoal")
      shoal.self():cancel()
      shoal.sleep(60)
    end)
    assert(not ok and err == shoal.cancelled and traceback == nil)
    assert(pool:call("type", 1) == "number")
  )");
  INFO(run.log);
  REQUIRE(run.status == 0);
}

TEST_CASE("a call that runs is cancelled in its task, its process goes on") {
  const auto run = RunScript(R"(
    local shoal = require("shoal")
    local ch = shoal.channel()
    local pool = shoal.pool({ size = 1 })
    local function id() return require("shoal").self().id end
    local before = pool:call(id)
    for _, wait in ipairs({ true, false }) do
      local future = pool:async(function(ch, wait)
        ch:send("runs", true)
        if wait then ch:receive("never") end
        while true do end
      end, ch, wait)
      ch:receive("runs")
      assert(future:cancel(60) and future:status() == "cancelled")
    end
    assert(pool:call(id) == before)
  )");
  INFO(run.log);
  REQUIRE(run.status == 0);
}
