// SPDX-License-Identifier: MIT
#include "runtime/lua/output.h"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/lua/captured_stream.h"
#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

// What it writes to stdout, and its results.
const char* const kScript = R"lua(
print() print(nil) print(1, 2.0, -0.0, 1e15, 1e100, 2^53, 0x10, math.mininteger, 1/0, -1/0)
print("a\0b", "", "\n", true, false, "tab\t")
print(setmetatable({}, {__tostring = function() return "object" end}), 1)
print((tostring(setmetatable({}, {__name = "Named"})):gsub("0x%x+", "")))
print(table.unpack({}, 1, 300))
print(("x"):rep(10000), ("y"):rep(5000))
out(pcall(print, setmetatable({}, {__tostring = function() return 1 end})))
out(pcall(print, setmetatable({}, {__tostring = function() return {} end})))
out(pcall(print, setmetatable({}, {__tostring = function() error("inside") end})))
out(select("#", print(1)))
out(io.write() == io.stdout, io.write("a", 1, 2.5, "\n") == io.output())
io.write(1.0, " ", -0.0, " ", 1e15, " ", 1e100, " ", 2^53, " ", 3 // 1, " ", 1/0, " ", -(0/0) ~= 0 and 1, "\n")
io.write(math.mininteger, " ", math.maxinteger, " ", 123456789012345.678, " ", 0.1, "\n", "a\0b", "\n")
io.write(("z"):rep(9000), 7, ("z"):rep(9000), "\n")
out(pcall(io.write, "written", 1, {}, "not written"))
out(pcall(io.write, nil))
out(pcall(io.write, true))
out(pcall(io.write, io.stdout))
out(select("#", io.write("")))
io.write(table.unpack({1, 2, 3, 4, 5, 6, 7, 8, 9}))
local name = os.tmpname()
local file = assert(io.open(name, "w"))
io.output(file)
out(io.write("to", " ", "the file", 12, "\n") == file, io.output() == file)
file:close()
out(pcall(io.write, "x"))
out(pcall(function() io.write("x") end))
io.output(assert(io.open(name, "r")))
out(io.write("read only"))
out(io.write(1, 2))
out(pcall(io.write, 1, {}))
io.output():close()
io.output(assert(io.open("/dev/full", "w")))
io.output():setvbuf("no")
out(io.write("x", "y"))
out(io.write(1))
out(io.write(1.5, "s"))
io.output():close()
io.output(io.stdout)
for line in io.lines(name) do out(line) end
os.remove(name)
print("end")
)lua";

TEST_CASE("print and io.write do what stock's do") {
  CapturedStream stock_stream(stdout);
  std::string stock = RunStock(kScript);
  const std::string stock_text = stock_stream.Take();
  CapturedStream stream(stdout);
  std::string ours = RunOurs(kScript);
  const std::string text = stream.Take();
  CHECK(ours == stock);
  CHECK(text == stock_text);
  CHECK(text.size() > 30000);
}

TEST_CASE("a print that fails writes nothing") {
  CapturedStream stream(stdout);
  const std::string output = RunOurs(
      "out(pcall(print, 1, 2, setmetatable({}, {__tostring = function() error('no', 0) end})))");
  CHECK(stream.Take().empty());
  CHECK(output == "false no\n");
}

TEST_CASE("each call goes out in one piece while other states write") {
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  CapturedStream stream(stdout);
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([i] {
        std::string source = "local id = " + std::to_string(i);
        source += " for i = 1, ";
        source += std::to_string(kLines);
        source += " do print(id, i, ('p'):rep(i % 90), 'end')";
        source += " io.write(id, '\\t', i, '\\t', ('w'):rep(i % 70), '\\tend\\n') end";
        RunOurs(source);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::istringstream lines(stream.Take());
  std::map<std::string, int> seen;
  std::string line;
  while (std::getline(lines, line)) ++seen[line];
  bool complete = true;
  for (int i = 0; i < kThreads; ++i) {
    for (int j = 1; j <= kLines; ++j) {
      const std::string head = std::to_string(i) + "\t" + std::to_string(j) + "\t";
      complete = complete &&
                 seen[head + std::string(static_cast<std::size_t>(j % 90), 'p') + "\tend"] == 1;
      complete = complete &&
                 seen[head + std::string(static_cast<std::size_t>(j % 70), 'w') + "\tend"] == 1;
    }
  }
  CHECK(complete);
  CHECK(seen.size() == 2UL * kThreads * kLines);
}

}  // namespace
}  // namespace shoal::core
