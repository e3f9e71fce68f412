-- SPDX-License-Identifier: MIT
-- join and result: of processes and of tasks.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

local ch = shoal.channel()

-- start(f, ...): a process or a task.
for kind, start in pairs({ process = shoal.spawn, task = shoal.task }) do
  -- Results, none, many, nil among them; as often as you like.
  do
    local p = start(function(...)
      return ...
    end, 1, nil, "x", nil)
    expect(pack(p:join()), true, 1, nil, "x", nil)
    expect(pack(p:join()), true, 1, nil, "x", nil)
    expect(pack(p:join(0)), true, 1, nil, "x", nil)
    expect(pack(p:result()), 1, nil, "x", nil)
    expect(pack(p:result(0)), 1, nil, "x", nil)
    assert(p:status() == "done")
    local none = start(function() end)
    expect(pack(none:join()), true)
    expect(pack(none:result()))
    local many = start(function()
      local t = {}
      for i = 1, 240 do
        t[i] = i
      end
      return table.unpack(t)
    end)
    assert(select("#", many:result()) == 240 and select(241, many:join()) == 240)
  end

  -- Timeouts.
  do
    local p = start(function()
      return ch:receive("go")
    end)
    expect(pack(p:join(0)), nil, "timeout")
    expect(pack(p:join(0.01)), nil, "timeout")
    local raised = pack(pcall(p.result, p, 0))
    expect(raised, false, shoal.timeout)
    raised = pack(pcall(p.result, p, 0.01))
    expect(raised, false, shoal.timeout)
    repeat
      shoal.sleep(0.001)
    until p:status() == "waiting"
    ch:send("go", "value")
    expect(pack(p:join(1000)), true, "value")
  end

  -- By many at once, with and without timeouts.
  do
    local p = start(function()
      return ch:receive("go")
    end)
    local joiners = {}
    for i = 1, 20 do
      joiners[i] = shoal.task(function()
        if i % 4 == 0 then
          return p:join(0.001)
        end
        return p:join(i % 2 == 0 and 1000 or nil)
      end)
    end
    for i = 4, 20, 4 do
      joiners[i]:join()
    end
    ch:send("go", "all")
    for i, j in ipairs(joiners) do
      if i % 4 == 0 then
        expect(pack(j:result()), nil, "timeout")
      else
        expect(pack(j:result()), true, "all")
      end
    end
  end

  -- A result is a copy for each joiner of a process; a task is in the same state.
  do
    local p = start(function()
      return { 1 }
    end)
    local a, b = p:result(), p:result()
    assert((a == b) == (kind == "task") and a[1] == 1)
  end

  -- Nobody can join itself.
  do
    local p
    if kind == "task" then
      p = shoal.task(function()
        return pcall(p.join, p)
      end)
    else
      p = shoal.spawn(function()
        local self = require("shoal").self()
        return pcall(self.join, self)
      end)
    end
    local ok, err = p:result()
    assert(ok == false and err:find("itself", 1, true), err)
  end

  -- A joiner that ends before the joined one does.
  do
    local p = start(function()
      return ch:receive("go")
    end)
    local impatient = shoal.task(function()
      return p:join(0.001)
    end)
    impatient:join()
    ch:send("go", 1)
    assert(p:result() == 1)
  end
end

-- Joiners in other processes.
do
  local p = shoal.spawn(function()
    return ch:receive("go"), { "copy" }
  end)
  local joiners = {}
  for i = 1, 10 do
    joiners[i] = shoal.spawn(function()
      local ok, value, copy = p:join()
      return ok, value, copy[1]
    end)
  end
  ch:send("go", "shared")
  for _, j in ipairs(joiners) do
    expect(pack(j:result()), true, "shared", "copy")
  end
end

-- A race of the end and a timeout: the result, or a timeout, and nothing else.
do
  local n = support.scaled(300)
  local timeouts = 0
  for i = 1, n do
    local p = shoal.spawn(function(k)
      if k % 3 == 0 then
        require("shoal").sleep(0.0002)
      end
      return k
    end, i)
    local ok, value = p:join(0.0001 * (i % 4))
    if ok then
      assert(value == i)
    else
      assert(value == "timeout")
      timeouts = timeouts + 1
      expect(pack(p:join()), true, i)
    end
  end
  -- In a short run there may be none.
  assert(timeouts > 0 or support.scale < 0.1)
end

-- Tasks of a process that have ended stay joinable after a collection.
do
  local tasks = {}
  for i = 1, 200 do
    tasks[i] = shoal.task(function()
      return { i }
    end)
  end
  shoal.yield()
  collectgarbage()
  collectgarbage()
  for i, t in ipairs(tasks) do
    assert(t:result()[1] == i)
  end
end
