-- SPDX-License-Identifier: MIT
-- Processes: what they start with, how they are found, and when they end.
-- luacheck: globals x_of_test string
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

-- Bodies of all kinds.
do
  expect(
    pack(shoal
      .spawn(function(a, b)
        return b, a
      end, 1, "two")
      :join()),
    true,
    "two",
    1
  )
  expect(
    pack(shoal.spawn("local a, b = ... return a + b, select('#', ...)", 1, 2):join()),
    true,
    3,
    2
  )
  expect(pack(shoal.spawn(string.rep, "ab", 3):join()), true, "ababab")
  expect(pack(shoal.spawn(require("foreign").call, tostring, 5):join()), true, "5")
  expect(pack(shoal.spawn("return ..."):join()), true)
  -- From a file.
  local file <close> =
    support.temporary("#!/usr/bin/shoal\nlocal a = ...\nreturn a * 2, shoal == nil")
  expect(pack(shoal.spawn_file(file.path, 21):join()), true, 42, true)
  expect(pack(shoal.spawn_file({ name = "of a file" }, file.path, 1):join()), true, 2, true)
end

-- Each is a world of its own: globals, loaded modules, metatables of strings.
do
  x_of_test = 1
  getmetatable("").__index.of_test = print
  package.loaded.of_test = true
  local p = shoal.spawn(function()
    local seen = x_of_test ~= nil or (""):find("x") ~= nil or string.of_test ~= nil
    seen = seen or package.loaded.of_test ~= nil or package.loaded.support ~= nil
    x_of_test = 2
    string.format = nil
    package.path = "nowhere"
    return seen
  end)
  assert(p:result() == false)
  assert(x_of_test == 1 and string.format and package.path ~= "nowhere")
  string.of_test, x_of_test, package.loaded.of_test = nil, nil, nil
  local clean = shoal.spawn(function()
    return string.format ~= nil and _G.x_of_test == nil
  end)
  assert(clean:result() == true)
end

-- spawn returns before the body runs, and does not let others run.
do
  local ran = shoal.channel()
  local order = {}
  shoal.task(function()
    order[#order + 1] = "task"
  end)
  local p = shoal.spawn(function()
    ran:incr("n")
  end)
  order[#order + 1] = "spawned"
  p:join()
  shoal.yield()
  assert(order[1] == "spawned" and order[2] == "task" and ran:receive("n") == 1)
end

-- self, process, processes, ids and names.
do
  local me = shoal.self()
  assert(me.id == support.script_id and shoal.process(me.id) == me and me:status() == "running")
  local hold = shoal.channel()
  local a = shoal.spawn({ name = "alpha" }, function()
    local s = require("shoal")
    local self = s.self()
    hold:receive("go")
    return self, self.id, self.name, s.process("alpha") == self
  end)
  local b = shoal.spawn({ name = "beta" }, function()
    hold:receive("go")
  end)
  local unnamed = shoal.spawn(function()
    hold:receive("go")
  end)
  assert(a.id > me.id and b.id > a.id and unnamed.id > b.id)
  assert(shoal.process("alpha") == a and shoal.process(b.id) == b)
  assert(a.name == "alpha" and unnamed.name == nil)
  assert(shoal.process("nobody") == nil and shoal.process(1 << 40) == nil)
  assert(shoal.process(-1) == nil)
  local all = shoal.processes()
  local found = {}
  for i, p in ipairs(all) do
    found[p] = true
    assert(i == 1 or all[i - 1].id < p.id)
  end
  assert(#all == 4 and found[me] and found[a] and found[b] and found[unnamed])
  hold:send_batch("go", { 1, 1, 1 })
  local self, id, name, same = a:result()
  assert(self == a and id == a.id and name == "alpha" and same)
  b:join()
  unnamed:join()
  assert(#shoal.processes() == 1 and shoal.process("alpha") == nil and shoal.process(a.id) == nil)
  -- The same name twice: the older one is found; then the other.
  local one = shoal.spawn({ name = "twin" }, function()
    hold:receive(1)
  end)
  local two = shoal.spawn({ name = "twin" }, function()
    hold:receive(2)
  end)
  assert(shoal.process("twin") == one)
  hold:send(1, 1)
  one:join()
  assert(shoal.process("twin") == two)
  hold:send(2, 1)
  two:join()
end

-- status.
do
  local ch = shoal.channel()
  local p = shoal.spawn(function()
    ch:send("up", true)
    ch:receive("go")
    local n = 0
    repeat
      n = n + 1
    until ch:count("stop") > 0
    return n
  end)
  ch:receive("up")
  while p:status() ~= "waiting" do
    shoal.sleep(0.001)
  end
  ch:send("go", true)
  if support.workers > 1 then
    while p:status() ~= "running" do
      shoal.sleep(0.001)
    end
  end
  ch:send("stop", true)
  p:join()
  assert(p:status() == "done")
  local failed = shoal.spawn(error)
  failed:join()
  assert(failed:status() == "error")
  local fresh = shoal.spawn(function() end)
  local status = fresh:status()
  assert(status == "ready" or support.workers > 1, status)
  fresh:join()
end

-- A process ends when its body has returned and its tasks have ended.
do
  local ch = shoal.channel()
  local p = shoal.spawn(function()
    local s = require("shoal")
    s.task(function()
      ch:receive("go")
      s.task(function()
        s.sleep(0.01)
        ch:send("last", true)
      end)
    end)
    return "body"
  end)
  expect(pack(p:join(0.02)), nil, "timeout")
  ch:send("go", true)
  expect(pack(p:join()), true, "body")
  assert(ch:count("last") == 1)
end

-- A tree of processes.
do
  local function tree(depth)
    if depth == 0 then
      return 1
    end
    local s = require("shoal")
    local a = s.spawn(tree, depth - 1)
    local b = s.spawn(tree, depth - 1)
    return a:result() + b:result() + 1
  end
  assert(tree(support.scale < 1 and 5 or 8) == (support.scale < 1 and 63 or 511))
end

-- Busy processes share the workers, also those that never wait.
do
  local n = support.scaled(200000)
  local all = {}
  for i = 1, 2 * support.workers + 1 do
    all[i] = shoal.spawn(function()
      local sum = 0
      for j = 1, n do
        sum = sum + j % 7
      end
      return sum
    end)
  end
  local first = all[1]:result()
  for _, p in ipairs(all) do
    assert(p:result() == first)
  end
end

-- C code that blocks its thread holds up nobody, if there is another worker.
if support.workers > 1 then
  support.some_time("others while one naps", function()
    local p = shoal.spawn(function()
      require("foreign").nap(0.2)
    end)
    for _ = 1, 10 do
      shoal.spawn(function() end):join()
    end
    local naps = p:status() == "running"
    p:join()
    return naps
  end)
end

-- Garbage: processes that nobody refers to any more are gone, with their memory.
do
  local function round()
    for _ = 1, support.scaled(300) do
      shoal.spawn(function()
        local t = {}
        for i = 1, 1000 do
          t[i] = { i }
        end
        return t
      end)
    end
    shoal.wait()
    collectgarbage()
  end
  round()
  local before = support.memory()
  for _ = 1, 5 do
    round()
  end
  local growth = support.memory() - before
  assert(support.scale < 1 or growth < 20e6, growth)
end
