-- SPDX-License-Identifier: MIT
-- `shoal --sim`: runs that repeat themselves, and the search for a seed that fails.

local suite = ...
local run, test, equal = suite.run, suite.test, suite.equal

local function refuses(option)
  test(option .. " is refused", function()
    local output, errors, status = run("ours", "interp " .. option .. " -e 'print(1)'")
    equal(output, "")
    local text = option:match("=(.*)$")
    local complaint = "shoal: '--sim' needs a seed (0 or more), or a range of seeds such as "
      .. ("1..500, not '%s'\nusage: "):format(text)
    equal(errors:sub(1, #complaint), complaint)
    equal(status, 1)
  end)
end

refuses("--sim=")
refuses("--sim=abc")
refuses("--sim=-1")
refuses("--sim=1.5")
refuses("--sim=5..2")
refuses("--sim=1..")
refuses("--sim=..2")
refuses("--sim=18446744073709551616")

-- Prints what depends on chance in a usual run: addresses, orders, times, random numbers.
suite.write(
  "chance.lua",
  [[
local shoal = require "shoal"
print({}, print, coroutine.create(print), io.stdout)
print(os.time(), os.clock(), os.date(), shoal.now(), math.random(0), collectgarbage("count"))
local t = { [print] = 0, [io] = 0, [io.stdout] = 0 }
for i = 1, 20 do t[{}] = i; t["key" .. i] = i; t[i * 1.5] = i end
for key, value in pairs(t) do io.write(type(key), value, " ") end
print()
local ch = shoal.channel()
local function body(i)
  local shoal = require "shoal"
  local closed <close> = setmetatable({}, { __close = function() print("closed", i, {}) end })
  for j = 1, 5 do
    ch:send("k", i * 10 + j)
    print(i, j, {}, math.random(0), ch:incr("sum"), shoal.now())
    shoal.sleep(i * 0.01)
  end
  local names = {}
  for name in pairs(_G) do names[#names + 1] = name end
  print(table.concat(names, " "))
  table.sort({ 3, 1, 2 }, function(a, b) shoal.sleep(0.001) return a < b end)
  if i == 5 then os.exit(3) end
  while i > 2 do ch:incr("turns") shoal.yield() end
end
for i = 1, 5 do shoal.spawn(body, i) end
for i = 1, 25 do print(ch:receive("k")) end
for _, key in ipairs(ch:keys()) do print(key) end
shoal.channel():receive("never")
]]
)

test("the same seed gives the same output, bit for bit", function()
  local first, errors, status = run("ours", "interp --sim=7 chance.lua")
  equal(errors, "")
  equal(status, 3)
  for _, before in ipairs({ "", "A_VARIABLE=$(seq 1000) ", "taskset 1 " }) do
    local again, _, status_again = run("ours", before .. "interp --sim=7 chance.lua")
    equal(again, first, before)
    equal(status_again, 3)
  end
end)

test("the same seed gives the same output at a terminal", function()
  local first = run("ours", "interp --sim=7 chance.lua")
  local command = "script --quiet --command 'interp --sim=7 chance.lua' /dev/null | tr -d '\\r'"
  equal(run("ours", command), first)
end)

test("other seeds give other orders", function()
  local script = [[interp --sim=%d -e 'local shoal = require "shoal"
    for i = 1, 5 do shoal.spawn(function(i) io.write(i) end, i) end']]
  local orders, count = {}, 0
  for seed = 0, 19 do
    local output, errors, status = run("ours", script:format(seed))
    equal(errors, "")
    equal(status, 0)
    assert(output:find("^%d%d%d%d%d$"), output)
    count = count + (orders[output] and 0 or 1)
    orders[output] = true
  end
  assert(count > 10, count)
end)

test("an hour takes no time", function()
  local script = [[interp --sim=1 -e 'local shoal = require "shoal"
    local start, time = shoal.now(), os.time()
    local ch = shoal.channel()
    ch:incr("here", 1, 3000)
    for i = 1, 24 do shoal.spawn(function(i) require("shoal").sleep(i * 3600) end, i) end
    print(ch:receive("never", 3600 * 24 * 365))
    print((shoal.now() - start) // 1 == 3600 * 24 * 365, os.time() - time == 3600 * 24 * 365)
    print(os.date("!%Y"), ch:get("here"))']]
  local output, errors, status = run("ours", script)
  equal(errors, "")
  equal(output, "nil\ttimeout\ntrue\ttrue\n2024\tnil\n")
  equal(status, 0)
end)

test("a loop that looks at the clock ends", function()
  local script = [[interp --sim=1 -e 'local shoal = require "shoal"
    local function wait(get, seconds, between)
      local deadline = get() + seconds
      while get() < deadline do between() end
    end
    wait(shoal.now, 0.02, shoal.yield)
    wait(shoal.now, 0.02, function() end)
    wait(os.clock, 0.02, shoal.now)']]
  local output, errors, status = run("ours", script)
  equal(output .. errors, "")
  equal(status, 0)
end)

test("a deadlock is found, and an error that nobody joins makes the status 1", function()
  local _, errors, status = run(
    "ours",
    [[interp --sim=3 -e '
    require("shoal").channel("c"):receive("never")']]
  )
  assert(
    errors:find("deadlock: nothing can run any more:\n  process 1: receive on", 1, true),
    errors
  )
  equal(status, 1)
  _, errors, status = run(
    "ours",
    [[interp --sim=3 -e 'local shoal = require "shoal"
    shoal.spawn({ name = "child" }, function() assert(false, "wrong") end)
    shoal.sleep(10)
    io.stderr:write("later\n")']]
  )
  assert(errors:find("^shoal: process 2 %(child%): [^\n]*: wrong\n.*\nlater\n$"), errors)
  equal(status, 1)
end)

test("stdin is read as usual", function()
  local script = [[interp --sim=3 -e 'print(io.read())' - ]]
  equal(run("ours", script, "a line\nprint('script')"), "a line\nscript\n")
end)

-- Two processes that read, add and write back.
suite.write(
  "lost.lua",
  [[
local shoal = require "shoal"
local ch = shoal.channel()
ch:set("n", 0)
local function add() ch:set("n", ch:get("n") + 1) end
local one, two = shoal.spawn(add), shoal.spawn(add)
one:result()
two:result()
print("sum", ch:get("n"))
assert(ch:get("n") == 2, ...)
]]
)

test("a range of seeds finds a lost update, and the seed that it names fails again", function()
  local output, errors, status = run("ours", "interp --sim=1..500 lost.lua 'an update' x")
  equal(status, 1)
  local shown, seed =
    errors:match("^shoal: seed (%d+) fails %(exit status 1%); to see it again: (interp [^\n]*)\n$")
  shown, seed = seed, shown
  equal(shown, ("interp --sim=%s lost.lua 'an update' x"):format(seed))
  assert(output:find("^sum\t1\nshoal: [^\n]*an update\n"), output)
  local again, errors_again, status_again = run("ours", shown)
  equal(again .. errors_again, output)
  equal(status_again, 1)
end)

test("a range of seeds in which none fails says so, and shows nothing", function()
  local output, errors, status = run("ours", [[interp --sim=3..12 -e 'print("said")']])
  equal(output, "")
  equal(errors, "shoal: no seed from 3 to 12 fails\n")
  equal(status, 0)
end)

test("a range of seeds names the signal that ended a run", function()
  local _, errors, status = run("ours", [[interp --sim=1..2 -e 'os.execute("kill -9 $PPID")']])
  assert(errors:find("^shoal: seed 1 fails %(signal 9 %(Killed%)%); to see it again: "), errors)
  equal(status, 1)
end)
