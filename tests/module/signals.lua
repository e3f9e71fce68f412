-- SPDX-License-Identifier: MIT
-- Ctrl-C in a host: the interpreter's own handler sets a hook, which waits call.
local support = require("support")

-- Runs the source and, each time that it calls ready(i), sends it the signal SIGINT; if it calls
-- waits(i), when it waits. Returns the status, what it put out and what on stderr.
local function run(source, times)
  local script <close> = support.temporary()
  local out <close> = support.temporary()
  local err <close> = support.temporary()
  local mark = script.path .. "."
  local head = [[
    local shoal = require("shoal")
    local function ready(i) io.open(%q .. i, "w"):close() end
    local function waits(i)
      shoal.spawn({ daemon = true }, function(host)
        while host:status() ~= "waiting" do shoal.sleep(0.001) end
        ready(i)
      end, shoal.self())
    end
  ]]
  support.write_file(script.path, head:format(mark) .. source)
  local command = ([=[bash -c '
    set -m
    "$SHOAL" %s >%s 2>%s </dev/null &
    job=$!
    for ((i = 1; i <= %d; ++i)); do
      until [[ -e %s$i ]]; do kill -0 $job 2>/dev/null || break; sleep 0.01; done
      kill -INT $job
    done
    wait $job
    status=$?
    rm -f %s*
    exit $status']=]):format(script.path, out.path, err.path, times or 1, mark, mark)
  local _, how, status = os.execute(command)
  local function read(path)
    local file <close> = assert(io.open(path))
    return file:read("a")
  end
  return how == "exit" and status or how .. status, read(out.path), read(err.path)
end

local function check(source, status, output, errors, times)
  local got, out, err = run(source, times)
  local all = ("status %s, output %q, stderr %q: %s"):format(got, out, err, source)
  assert(got == status, all)
  assert(out:find(output), all)
  assert(err:find(errors), all)
end

-- In a wait: the script ends as any other, and its variables are closed.
local closing =
  'local closed <close> = setmetatable({}, { __close = function() print("closed") end })\n'
check(closing .. "waits(1) shoal.sleep(60)", 1, "^closed\n$", "interrupted!\nstack traceback")
check(closing .. 'waits(1) shoal.channel():receive("key", 60)', 1, "^closed\n$", "interrupted!")
check(
  'local p = shoal.spawn({ daemon = true }, function() require("shoal").sleep(60) end)\n'
    .. "waits(1) p:join()",
  1,
  "",
  "interrupted!"
)

-- It can be caught, and the runtime is as it was.
check(
  [[
    waits(1)
    print(pcall(shoal.sleep, 60))
    local channel = shoal.channel()
    local echo = shoal.spawn(function() channel:send("back", (channel:receive("to"))) end)
    channel:send("to", 7)
    print(channel:receive("back"))
  ]],
  0,
  "^false\tinterrupted!\n7\n$",
  "^$"
)

-- In a loop, and in one that calls.
check("ready(1) while true do end", 1, "^$", "interrupted!")
check("ready(1) while true do shoal.yield() end", 1, "^$", "interrupted!")
check(
  'local channel = shoal.channel() ready(1) while true do channel:receive("key", 0) end',
  1,
  "^$",
  "interrupted!"
)

-- While a task runs, or waits itself where Lua cannot yield: the script is interrupted, too.
check(
  "shoal.task(function() ready(1) while true do shoal.yield() end end):join()",
  1,
  "^$",
  "interrupted!"
)
check(
  [[
    local task = shoal.task(function()
      string.gsub("x", "x", function() waits(1) shoal.sleep(60) end)
    end)
    print(pcall(task.join, task))
    print((task:join()))
  ]],
  0,
  "^false\tinterrupted!\nnil\n$",
  ""
)
check("coroutine.wrap(function() waits(1) shoal.sleep(60) end)()", 1, "^$", "interrupted!")

-- The second one ends the program: the interpreter has given the signal back.
check("waits(1) pcall(shoal.sleep, 60) ready(2) shoal.sleep(60)", 130, "^$", "", 2)
-- Also while the end waits for processes.
check(
  [[
    shoal.spawn(function() require("shoal").sleep(60) end)
    local closed <close> = setmetatable({}, { __close = function() ready(2) end })
    waits(1)
    shoal.sleep(60)
  ]],
  130,
  "^$",
  "interrupted!",
  2
)
