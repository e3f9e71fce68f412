// SPDX-License-Identifier: MIT
#include "runtime/process/link.h"

#include <catch2/catch.hpp>
#include <lua.hpp>

#include "runtime/process/process.h"
#include "tests/support/script_runner.h"

using namespace shoal::core;
using shoal::test::RunResult;
using shoal::test::RunScript;

namespace {

// The other end of a link that ends at once, and brings back what it was told.
class Echo final : public ExitWatch {
 public:
  explicit Echo(Process& process) : process_(process) {}
  void OnExit(ExitKind, const Message*, const Ref<Failure>& failure) override {
    process_.EndLinked(failure);
  }
  [[nodiscard]] bool joins() const override { return false; }

 private:
  Process& process_;
};

int EchoFailure(lua_State* L) {
  Process& process = Process::Of(L);
  static_cast<void>(process.exit().Watch(*Ref<Echo>::Adopt(new Echo(process))));
  return 0;
}

void OpenEcho(lua_State* L) { lua_register(L, "echo_failure", EchoFailure); }

}  // namespace

TEST_CASE("a failure among linked processes is reported once, where it arose") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    shoal.spawn(function()
      for i = 1, 10 do
        shoal.spawn({ link = true }, function() shoal.channel():receive(1) end)
      end
      shoal.spawn({ name = "origin", link = true }, function() error("boom", 0) end)
      shoal.channel():receive(1)
    end)
    shoal.wait())lua");
  REQUIRE(result.status == 1);
  REQUIRE(result.log.find("process 13 (origin): boom") == 0);
  REQUIRE(result.log.find("boom", result.log.find("boom") + 1) == std::string::npos);
  REQUIRE(result.clean);
}

TEST_CASE("a failure is reported though the other end brings it back meanwhile") {
  const RunResult result = RunScript(R"lua(
    require "shoal".spawn({ name = "origin" }, function() echo_failure() error("boom", 0) end))lua",
                                     {.open = OpenEcho});
  REQUIRE(result.status == 1);
  REQUIRE(result.log.find("process 2 (origin): boom") == 0);
  REQUIRE(result.log.find("boom", result.log.find("boom") + 1) == std::string::npos);
}

TEST_CASE("many ends of linked processes race") {
  for (const int workers : {1, 4}) {
    const RunResult result = RunScript(R"lua(
      local shoal = require "shoal"
      for i = 1, 200 do
        local p = shoal.spawn(function()
          local children = {}
          for j = 1, 4 do
            children[j] = shoal.spawn({ link = true }, function()
              if (i + j) % 3 == 0 then error("child") end
              if (i + j) % 5 == 0 then shoal.self():cancel() end
              shoal.yield()
            end)
          end
          if i % 2 == 0 then error("parent") end
          for j = 1, 4 do children[j]:join() end
        end)
        if i % 7 == 0 then p:cancel() end
        p:join()
      end)lua",
                                       {.workers = workers});
    REQUIRE(result.clean);
  }
}
