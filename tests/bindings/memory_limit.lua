-- SPDX-License-Identifier: MIT
-- memory_limit: what a process may have in its Lua state.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

-- What is too much raises, in that process alone; what was freed counts again.
do
  local p = shoal.spawn({ memory_limit = "300K" }, function()
    for _ = 1, 3 do
      local ok, err = pcall(function()
        local hoard = {}
        for i = 1, 1e9 do
          hoard[i] = ("%d"):format(i)
        end
        return hoard
      end)
      assert(not ok and err == "not enough memory", err)
    end
    return #("x"):rep(100000)
  end)
  expect(pack(p:join()), true, 100000)
end

-- Garbage is collected before it raises, also where the collector has been stopped.
do
  local p = shoal.spawn({ memory_limit = 300000 }, function()
    collectgarbage("stop")
    for i = 1, 200 do
      assert(#(("x"):rep(50000) .. i) > 50000)
    end
  end)
  expect(pack(p:join()), true)
end

-- Not caught, it is the error of the process; others go on.
do
  local ch = shoal.channel()
  local other = shoal.spawn(function()
    return #ch:receive("big")
  end)
  local p = shoal.spawn({ memory_limit = "200K" }, function()
    return #("x"):rep(1 << 20)
  end)
  expect(pack(p:join()), nil, "not enough memory", "")
  ch:send("big", ("x"):rep(1 << 20))
  assert(other:result() == 1 << 20)
end

-- It works in coroutines and tasks, and close handlers run.
do
  local p = shoal.spawn({ memory_limit = "300K" }, function()
    local s = require("shoal")
    local closed = 0
    local function grow()
      local _ <close> = setmetatable({}, {
        __close = function()
          closed = closed + 1
        end,
      })
      return ("x"):rep(1 << 20)
    end
    local ok, err = coroutine.resume(coroutine.create(grow))
    local joined = table.pack(s.task(grow):join())
    return ok, err, joined[1], joined[2], (pcall(coroutine.wrap(grow))), closed
  end)
  -- A coroutine that failed is closed by wrap, but not by resume.
  expect(pack(p:join()), true, false, "not enough memory", nil, "not enough memory", false, 2)
end

-- Too little for a state, or for what the process is given, is the error of the process.
do
  for _, limit in ipairs({ 0, 1, 1000, 5000, 12000, "12K" }) do
    local ok, err, trace = shoal.spawn({ memory_limit = limit }, "return 1"):join()
    local bytes = limit == "12K" and 12288 or limit
    local text = ("memory limit of %d bytes is too small for a process"):format(bytes)
    assert(ok == nil and err == text and type(trace) == "string", err)
  end
  local big = ("x"):rep(1 << 20)
  local p = shoal.spawn({ memory_limit = "200K" }, "return 1", big)
  support.expect_error("memory limit of 204800 bytes is too small", p.result, p)
end

-- Any limit at all leads to one of two ends.
do
  local ended, failed = 0, 0
  for limit = 3000, 60000, math.max(500, math.floor(500 / support.scale)) do
    local p = shoal.spawn({ memory_limit = limit }, function()
      local s = require("shoal")
      local ch = s.channel()
      ch:send("k", { 1, "two", {} })
      return select("#", ch:receive("k"))
    end)
    local ok, value = p:join()
    if ok then
      assert(value == 1)
      ended = ended + 1
    else
      assert(value == "not enough memory" or value:find("too small", 1, true), value)
      failed = failed + 1
    end
  end
  assert(ended > 0 and failed > 0)
end

-- Messages that stand in channels do not count.
do
  local ch = shoal.channel()
  local p = shoal.spawn({ memory_limit = "300K" }, function()
    local text = ("x"):rep(50000)
    for i = 1, 50 do
      ch:send("k", text .. i)
    end
    return ch:count("k")
  end)
  assert(p:result() == 50)
  assert(#ch:receive("k") == 50001)
end

-- A message for which there is no memory goes back to the head of its key.
do
  local ch = shoal.channel()
  local class = { name = "a class" }
  package.preload.class_of_test = function()
    return class
  end
  require("class_of_test")
  local forms = {
    function()
      return ch:receive("k")
    end,
    function()
      return ch:receive("k", 0)
    end,
    function()
      return ch:receive_any({ "none", "k" })
    end,
    function()
      return ch:receive_batch("k", 1)
    end,
    function()
      return ch:receive_batch("k", 10, 0, "pack")
    end,
    function()
      return ch:each("k")()
    end,
    function()
      return ch:get("k")
    end,
  }
  for _, value in ipairs({ ("x"):rep(1 << 20), { 1, { ("x"):rep(1 << 20) }, class } }) do
    for i, form in ipairs(forms) do
      ch:send("k", "first", value)
      ch:send("k", "second")
      local p = shoal.spawn({ memory_limit = "300K" }, function()
        return pcall(form)
      end)
      local ended, ok, err = p:join()
      assert(ended and not ok and err == "not enough memory", ("form %d: %s"):format(i, err))
      assert(ch:count("k") == 2)
      assert(ch:receive("k") == "first" and ch:receive("k") == "second")
    end
  end
end

-- Results that are too large for the joiner stay with the process.
do
  local p = shoal.spawn(function()
    return ("x"):rep(1 << 20)
  end)
  local q = shoal.spawn({ memory_limit = "300K" }, function()
    return pcall(p.join, p)
  end)
  expect(pack(q:join()), true, false, "not enough memory")
  assert(#p:result() == 1 << 20)
end

-- Nobody can be given more than the creator has; without the option, it is the same.
do
  local p = shoal.spawn({ memory_limit = "1M" }, function()
    local s = require("shoal")
    local function grow(kilobytes)
      return pcall(string.rep, "x", kilobytes * 1024)
    end
    local ok, err = pcall(s.spawn, { memory_limit = "2M" }, grow, 1)
    local inherited = s.spawn(grow, 1500):result()
    local less = s.spawn({ memory_limit = "300K" }, grow, 500):result()
    local room = s.spawn({ memory_limit = "1M" }, grow, 500):result()
    return ok, err, inherited, less, room
  end)
  local ok, err, inherited, less, room = p:result()
  assert(not ok and err:find("no more than 1048576 bytes", 1, true), err)
  assert(inherited == false and less == false and room == true)
end
