-- SPDX-License-Identifier: MIT
-- What SIGINT, SIGTERM and SIGQUIT do to the program.

local suite = ...
local run, test, equal = suite.run, suite.test, suite.equal
local open = assert(loadfile(os.getenv("PWD") .. "/tests/cli/terminal.lua"))(suite)

-- Before each script, in two lines: `ready(i)` lets the i-th signal come, `waits(i)` when it waits.
local READY = ([[
local shoal = require "shoal"
local function ready(i) io.open("ready" .. i, "w"):close() end
local function waits(i)
  shoal.spawn({ daemon = true }, function()
    while shoal.process(1):status() ~= "waiting" do shoal.sleep(0.001) end
    ready(i)
  end)
end
]]):gsub("\n", " ") .. "\n\n"

-- Runs a script with the file name `name`.lua. Whenever it says that it is ready, the next of the
-- `signals` is sent. Returns the output, what it has put out on stderr, and the exit status.
local function run_script(name, signals, source, before)
  suite.write(name .. ".lua", READY .. source)
  -- With job control, as a job in the background would ignore signals.
  local command = [=[rm -f ready*; set -m
    %s interp %s.lua 2>program_errors &
    for signal in %s; do
      i=$((i + 1))
      until [[ -e ready$i ]]; do sleep 0.01; done
      kill -$signal $!
    done
    wait $!; exit $?]=]
  local output, _, status = run("ours", command:format(before or "", name, signals))
  return output, suite.read(suite.folder .. "/program_errors"), status
end

for _, signal in ipairs({ "INT", "TERM" }) do
  test("SIG" .. signal .. " raises interrupted where the script waits", function()
    local output, errors, status = run_script(
      "waits",
      signal,
      [[
        local closed <close> = setmetatable({}, { __close = function() print("closed") end })
        waits(1)
        shoal.sleep(60)
      ]]
    )
    equal(output, "closed\n")
    assert(errors:find("^shoal: waits.lua:5: interrupted\nstack traceback:\n"), errors)
    equal(status, 1)
  end)

  test("SIG" .. signal .. " twice ends the program at once", function()
    local output, errors, status = run_script(
      "twice",
      signal .. " " .. signal,
      [[
        local closed <close> = setmetatable({}, { __close = function() print("closed") end })
        waits(1)
        print(pcall(shoal.sleep, 60))
        io.stdout:flush()
        ready(2)
        shoal.sleep(60)
      ]]
    )
    equal(output, "false\tinterrupted\n")
    equal(errors, "")
    equal(status, signal == "INT" and 130 or 143)
  end)
end

test("a script that catches the interrupt goes on", function()
  local output, errors, status = run_script(
    "catches",
    "INT",
    [[
      waits(1)
      print(pcall(shoal.sleep, 60))
      shoal.sleep(0.01)
      print(shoal.channel():receive("k", 0.01))
    ]]
  )
  equal(output, "false\tinterrupted\nnil\ttimeout\n")
  equal(errors, "")
  equal(status, 0)
end)

test("an interrupt reaches a script that calls Shoal and never waits", function()
  local loops = {
    yields = [[ready(1) while true do shoal.yield() end]],
    sets = [[local ch = shoal.channel() ready(1) while true do ch:set("k", 1) end]],
    sends = [[local ch = shoal.channel() ready(1)
      while true do ch:send("k", 1) ch:receive("k") end]],
  }
  for name, loop in pairs(loops) do
    local output, errors, status = run_script(name, "INT", loop)
    equal(output, "")
    assert(errors:find(("^shoal: %s.lua:%%d: interrupted\n"):format(name)), errors)
    equal(status, 1)
  end
end)

test("an interrupt reaches a wait where Lua cannot yield", function()
  local sort = [[waits(1) table.sort({ 2, 1 }, function() shoal.sleep(60) end)]]
  local _, errors, status = run_script("sorts", "INT", sort)
  assert(errors:find("^shoal: sorts.lua:3: interrupted\n"), errors)
  equal(status, 1)
end)

test("an interrupt reaches the body, not its tasks or other processes", function()
  local output, errors, status = run_script(
    "tasks",
    "INT",
    [[
      local task = shoal.task(function() shoal.sleep(0.1) return "the task" end)
      local process = shoal.spawn(function() require("shoal").sleep(0.1) return "the process" end)
      waits(1)
      print(pcall(shoal.sleep, 60))
      print(task:result(), process:result())
    ]]
  )
  equal(output, "false\tinterrupted\nthe task\tthe process\n")
  equal(errors, "")
  equal(status, 0)
end)

test("an interrupt of a script that has returned ends the program", function()
  local output, errors, status = run_script(
    "returned",
    "INT",
    [[
      shoal.spawn(function(script)
        local closed <close> = setmetatable({}, { __close = function() print("closed") end })
        script:join()
        ready(1)
        require("shoal").sleep(60)
      end, shoal.self())
    ]]
  )
  equal(output, "closed\n")
  equal(errors, "")
  equal(status, 130)
end)

test("a signal interrupts a busy program, and a second one ends it", function()
  local output, errors, status = run_script(
    "busy",
    "INT INT",
    [[
      print(pcall(function() ready(1) while true do end end))
      io.stdout:flush()
      ready(2)
      while true do end
    ]]
  )
  equal(output, "false\tbusy.lua:3: interrupted\n")
  equal(errors, "")
  equal(status, 130)
end)

-- (The thread sanitizer puts the handler off until the program that the script runs has ended.)
local is_put_off = (os.getenv("SANITIZER_LIBRARY") or ""):find("tsan")
test("a script that ends before it is interrupted ends with the status of the signal", function()
  if is_put_off then
    return
  end
  local script = [[interp -e 'os.execute("kill -TERM $PPID; sleep 0.5")'; echo $?]]
  local output, errors = run("ours", script)
  equal(output, "143\n")
  equal(errors, "")
end)

test("a signal that is ignored when the program begins stays so", function()
  local script = [[ready(1) ready(2) shoal.sleep(0.2) print("on")]]
  local output, errors, status = run_script("ignores", "INT INT", script, "trap '' INT; ")
  equal(output .. errors, "on\n")
  equal(status, 0)
end)

test("SIGQUIT lists the processes, and the program goes on", function()
  local output, errors, status = run_script(
    "lists",
    "QUIT",
    [[
      local ch = shoal.channel("jobs")
      local worker = shoal.spawn({ name = "worker" }, function() ch:receive("order") end)
      shoal.task(function()
        repeat shoal.sleep(0.01) until worker:status() == "waiting"
        ready(1)
        -- Till the list is there: it goes to the file that stderr is.
        repeat
          shoal.sleep(0.3)
        until io.open("program_errors"):read("a"):find("\n.*\n.*\n.*\n")
        ch:send("listed", true)
      end)
      ch:receive("listed", 60)
      print("goes on")
    ]]
  )
  equal(output, "goes on\n")
  equal(status, 0)
  equal(
    errors,
    'shoal: 2 processes:\n  process 1: receive on channel "jobs", key "listed", at lists.lua:14\n'
      .. "  process 1, a task: sleep, at lists.lua:10\n"
      .. '  process 2 (worker): receive on channel "jobs", key "order", at lists.lua:4\n'
  )
end)

test("Ctrl-C at the prompt interrupts the statement, each time", function()
  local session = open(("XDG_STATE_HOME=%s/state exec interp"):format(suite.folder))
  session:expect("\n> ")
  session:enter("shoal = require 'shoal'")
  for i = 1, 3 do
    session:type(("print('begun', %d) shoal.sleep(60)\n"):format(i))
    session:expect(("\nbegun\t%d\n"):format(i))
    session:type("\3")
    session:expect("stdin:1: interrupted\n")
    session:expect("\n> ")
  end
  session:enter("1 + 1", "2")
  session:type("\4")
  equal(session:close(), 0, session:text())
end)
