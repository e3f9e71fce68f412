-- SPDX-License-Identifier: MIT
-- What the program has beyond the stock interpreter.

local suite = ...
local run, test, equal = suite.run, suite.test, suite.equal

-- Checks output, errors and exit status. `errors` may be a pattern with "^".
local function expect(command, output, errors, status, input)
  local got_output, got_errors, got_status = run("ours", command, input)
  if errors:sub(1, 1) == "^" then
    assert(got_errors:find(errors), got_errors)
  else
    equal(got_errors, errors, "stderr")
  end
  equal(got_output, output, "stdout")
  equal(got_status, status, "status")
end

local function refuses(command, complaint)
  test(command .. " is refused", function()
    expect(command, "", "^shoal: " .. complaint .. "\nusage: shoal %[options%] ", 1)
  end)
end

refuses("interp -x", "unrecognized option '%-x'")
refuses("interp -vv", "unrecognized option '%-vv'")
refuses("interp -Ex", "unrecognized option '%-Ex'")
refuses("interp --no-such-option", "unrecognized option '%-%-no%-such%-option'")
refuses("interp -e", "'%-e' needs argument")
refuses("interp -l -v", "'%-l' needs argument")
refuses("interp -w", "'%-w' needs argument")
refuses("interp -w 0", "'%-w' needs a number of workers from 1 to 1024")
refuses("interp -w 1025", "'%-w' needs a number of workers from 1 to 1024")
refuses("interp -w 2x", "'%-w' needs a number of workers from 1 to 1024")
refuses("interp --log=loud", "'%-%-log' needs a level: off, error, warning or notice")

test("the usage is as the stock interpreter's, with our options", function()
  local _, stock = run("stock", "interp -x")
  local ours = run("ours", "interp --help")
  for line in stock:gmatch("\n( [^\n]+)") do
    assert(ours:find(line, 1, true), line)
  end
  local _, errors = run("ours", "interp -x")
  equal(errors, "shoal: unrecognized option '-x'\n" .. ours)
end)

test("-v prints both versions", function()
  local stock = run("stock", "interp -v"):gsub("\n", "")
  local output, errors, status = run("ours", "interp -v")
  equal(output:match("^Shoal %d+%.%d+  %((.*)%)\n$"), stock)
  equal(errors, "")
  equal(status, 0)
end)

test("-W turns warnings on in all processes, warn('@on') in its own", function()
  local spawn = [[ -e 'require("shoal").spawn(function() warn("here") end):join()']]
  expect("interp -W" .. spawn, "", "Lua warning: here\n", 0)
  expect("interp" .. spawn, "", "", 0)
  expect([[interp -e 'warn("@on")']] .. spawn, "", "", 0)
end)

test("--stats prints the counters of the runtime at the end", function()
  local script = [[ -e 'local shoal = require("shoal") local ch = shoal.channel()
    local p = shoal.spawn(function() ch:send("k", 1) end) p:join() ch:receive("k") print("out")']]
  local output, errors, status = run("ours", "interp --stats" .. script)
  equal(output, "out\n")
  equal(status, 0)
  local names = {}
  for name, value in errors:gmatch("(%a[%a ]-) +(%d+)\n") do
    names[#names + 1], names[name] = name, tonumber(value)
  end
  equal(
    table.concat(names, ", "),
    "processes, processes at one time, messages sent, dispatches, steals, parks, wakes, ticks, "
      .. "threads"
  )
  equal(names.processes, 2)
  equal(names["processes at one time"], 2)
  equal(names["messages sent"], 1)
  assert(names.dispatches >= 2 and names.threads >= 1)
  -- Also where the program ends in another way.
  local _, failed, failed_status = run("ours", "interp --stats -e 'error(1)'")
  assert(failed:find("\nprocesses +1\n") and failed_status == 1, failed)
  local _, exited, exit_status = run("ours", "interp --stats -e 'os.exit(3)'")
  assert(exited:find("^processes +1\n") and exit_status == 3, exited)
end)

test("-w and SHOAL_WORKERS set the number of workers", function()
  local print_workers = [[ -e 'print(require("shoal").workers())']]
  expect("interp -w 3" .. print_workers, "3\n", "", 0)
  expect("interp -w4" .. print_workers, "4\n", "", 0)
  expect("SHOAL_WORKERS=5 interp" .. print_workers, "5\n", "", 0)
  expect("SHOAL_WORKERS=5 interp -w2" .. print_workers, "2\n", "", 0)
  local complaint = "shoal: SHOAL_WORKERS must be a number of workers from 1 to 1024, not 'many'\n"
  expect("SHOAL_WORKERS=many interp" .. print_workers, "", complaint, 1)
  local cores = run("stock", "nproc")
  expect("SHOAL_WORKERS=many interp -E" .. print_workers, cores, "", 0)
end)

test("--log chooses what is reported", function()
  local fail = [[ -e 'error("e", 0)']]
  local report = "shoal: e\nstack traceback:\n\t[C]: in function 'error'\n"
    .. "\t(command line):1: in main chunk\n\t[C]: in ?\n"
  expect("interp --log=error" .. fail, "", report, 1)
  expect("interp --log=notice" .. fail, "", report, 1)
  expect("interp --log=off" .. fail, "", "", 1)
end)

test("every step may wait", function()
  suite.write("waits.lua", "require('shoal').sleep(0.001) return { value = ... }")
  local wait = [[local shoal = require "shoal" shoal.sleep(0.001) print(...)]]
  local command = "LUA_INIT='%s' interp -e '%s' -l w=waits -e 'print(w.value)' -e '%s' - x y"
  expect(command:format(wait, wait, wait), "\n\nwaits\n\nx\ty\n", "", 0, wait)
end)

test("an error after a wait has the traceback of the stock interpreter", function()
  local chunk = [[require("shoal").sleep(0.001) local function f() error("late") end f()]]
  local stock = [[local function f() error("late") end f()]]
  local _, expected = run("stock", ("interp -e '%s'"):format(stock))
  expect(("interp -e '%s'"):format(chunk), "", expected:gsub("^interp:", "shoal:"), 1)
end)

test("the program goes on until its processes have ended", function()
  local spawn = [[shoal.spawn(function() require("shoal").sleep(0.01) print("spawned") end)]]
  expect(
    ([[interp -e 'shoal = require "shoal" %s print("script")']]):format(spawn),
    "script\nspawned\n",
    "",
    0
  )
end)

test("an error that nobody joins is reported and counts", function()
  local errors = "^shoal: process 2 %(child%): [^\n]*: lost\nstack traceback:\n"
  local spawn = [[require("shoal").spawn({ name = "child" }, function() error("lost") end)]]
  expect(("interp -e '%s'"):format(spawn), "", errors, 1)
end)

test("os.exit in any process ends the program", function()
  local spawn = [[shoal.spawn(function() os.exit(9) end)]]
  local wait = [[shoal.channel():receive("never")]]
  expect(([[interp -e 'shoal = require "shoal" %s %s']]):format(spawn, wait), "", "", 9)
end)

test("os.exit runs <close> of other processes that wait", function()
  local child = [[shoal.spawn(function(ready)
    local x <close> = setmetatable({}, { __close = function() print("closed") end })
    ready:send("ready", true)
    require("shoal").channel():receive("never")
  end, ready)]]
  local script = [[interp -e 'shoal = require "shoal" ready = shoal.channel() %s
    ready:receive("ready") os.exit(2)']]
  expect(script:format(child), "closed\n", "", 2)
end)

test("os.exit ends a program with a busy process, and writes out what is buffered", function()
  local script = [[interp -w 2 -e 'shoal = require "shoal"
    shoal.spawn(function() while true do end end)
    file = io.open("buffered", "w")
    file:write("kept")
    io.write("no newline")
    os.exit(6)'; echo " $?"; cat buffered]]
  expect(script, "no newline 6\nkept", "", 0)
end)

test("os.exit ends a program in which a process reads stdin", function()
  local script = [[mkfifo endless; interp -w 2 -e 'shoal = require "shoal"
    shoal.spawn(function(ready) ready:send("key", 1) io.read() end, shoal.channel("ready"))
    shoal.channel("ready"):receive("key")
    file = io.open("buffered", "w")
    file:write("kept")
    os.exit(6)' <>endless; echo $?; cat buffered]]
  expect(script, "6\nkept", "", 0)
end)

-- The stock interpreter ends with 0 then, but only if stdin is not named by a dash.
test("a script on stdin that fails makes the status 1", function()
  expect("interp", "", "^shoal: stdin:1: failed\nstack traceback:\n", 1, "error('failed')")
end)

test("a deadlock is an error of the script", function()
  local script = [[interp -e 'require("shoal").channel():receive("never")']]
  local report = "^shoal: [^\n]*deadlock: [^\n]*\n.*\nstack traceback:\n.*%(command line%):1: "
  expect(script, "", report, 1)
end)

test("modules in C work in every process", function()
  local spawn = [[require("shoal").spawn(function()
    print(require("cjson").encode { require("lpeg").match(require("lpeg").P(1), "x") })
  end)]]
  expect(("interp -e '%s'"):format(spawn), "[2]\n", "", 0)
end)
