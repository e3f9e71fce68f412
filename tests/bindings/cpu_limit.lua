-- SPDX-License-Identifier: MIT
-- cpu_limit: how long the turns of a process may take, all together.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

local LIMIT = 0.02
local REACHED = "cpu limit of 0.02 s reached"

-- Starts `body`, which must end by the limit. Returns the traceback.
local function ends(name, body, ...)
  local ok, err, trace = shoal.spawn({ cpu_limit = LIMIT, name = name }, body, ...):join(50)
  assert(ok == nil and err == REACHED, ("%s: %s"):format(name, err))
  assert(type(trace) == "string", name)
  return trace
end

-- Wherever it runs, and whatever it catches.
do
  local places = {
    ["a loop"] = "while true do end",
    ["pcall"] = "while true do pcall(function() while true do end end) end",
    ["xpcall"] = [[while true do
      xpcall(function() while true do end end, function() return 1 end) end]],
    ["a handler that fails"] = [[while true do
      xpcall(function() while true do end end, function() error("mine") end) end]],
    ["resume"] = [[while true do
      coroutine.resume(coroutine.create(function() while true do end end)) end]],
    ["wrap"] = "while true do pcall(coroutine.wrap(function() while true do end end)) end",
    ["an error of its own"] = [[while true do
      pcall(function() pcall(function() while true do end end) error("mine") end) end]],
    ["the close of a coroutine"] = [[
      local co = coroutine.create(function()
        local _ <close> = setmetatable({}, { __close = function() while true do end end })
        coroutine.yield()
      end)
      coroutine.resume(co)
      while true do coroutine.close(co) end]],
    ["sort"] = [[while true do
      pcall(table.sort, { 3, 2, 1 }, function() while true do end end) end]],
    ["gsub"] = "string.gsub('x', 'x', function() while true do end end)",
    ["a metamethod"] = [[
      local t = setmetatable({}, { __index = function() while true do end end })
      while true do pcall(function() return t.x end) end]],
    ["short turns"] = "local s = require 'shoal' while true do s.yield() end",
    ["short turns in pcall"] = [[
      local s = require 'shoal'
      while true do pcall(function() while true do s.yield() end end) end]],
    ["calls that do not wait"] = [[
      local ch = require 'shoal'.channel()
      while true do ch:set('k', 1) end]],
    ["calls in sort"] = [[
      local ch = require 'shoal'.channel()
      table.sort({ 2, 1 }, function() while true do ch:set('k', 1) end end)]],
    ["yields in sort"] = [[
      local s = require 'shoal'
      table.sort({ 2, 1 }, function() while true do s.yield() end end)]],
    ["polling"] = [[
      local ch = require 'shoal'.channel()
      while true do pcall(ch.receive, ch, 'k', 0) end]],
    ["a task"] = [[
      require 'shoal'.task(function() while true do pcall(function() while true do end end) end end)
      require 'shoal'.channel():receive('k')]],
    ["a task after the body"] = [[
      require 'shoal'.task(function() while true do end end)
      return 1]],
    ["two tasks"] = [[
      local s = require 'shoal'
      for _ = 1, 2 do s.task(function() while true do s.yield() end end) end
      while true do s.yield() end]],
    ["a hook"] = "debug.sethook(function() end, 'l') while true do end",
    ["the loading of a module"] = [[
      package.preload.m = function() while true do end end
      while true do pcall(require, 'm') end]],
    ["the text of its error"] = [[
      error(setmetatable({}, { __tostring = function()
        while true do pcall(function() while true do end end) end
      end }))]],
    ["the text of a task's error"] = [[
      require 'shoal'.task(function()
        error(setmetatable({}, { __tostring = function() while true do end end }))
      end)
      while true do require 'shoal'.yield() end]],
    ["the sending of its results"] = [[
      return setmetatable({}, { __transfer = function() while true do end end })]],
    ["close handlers"] = [[
      local _ <close> = setmetatable({}, { __close = function() while true do end end })
      while true do end]],
    ["many close handlers"] = [[
      local function f(n)
        local _ <close> = setmetatable({}, { __close = function() while true do end end })
        if n > 0 then f(n - 1) end
        while true do end
      end
      f(20)]],
    ["waits in close handlers"] = [[
      local s = require 'shoal'
      local _ <close> = setmetatable({}, { __close = function()
        while true do pcall(s.yield) end
      end })
      while true do end]],
  }
  local all = {}
  for name, body in pairs(places) do
    all[#all + 1] = shoal.task(ends, name, body)
  end
  for _, task in ipairs(all) do
    task:result()
  end
end

-- The traceback says where it was.
do
  local trace = ends("trace", function()
    local function busy()
      while true do
      end
    end
    busy()
  end)
  assert(trace:find("cpu_limit.lua:%d+: in .*busy"), trace)
end

-- A C function that takes long ends at its return. (To the simulator it takes no time.)
if os.getenv("SHOAL_TEST_VARIANT") ~= "sim" then
  ends("gsub", "while true do ('x'):rep(100000):gsub('.', '') end")
end

-- Close handlers run, and may wait; what they get is the text.
do
  local ch = shoal.channel()
  ends("close", function()
    local s = require("shoal")
    local _ <close> = setmetatable({}, {
      __close = function(_, err)
        s.sleep(0.001)
        ch:send("closed", err)
      end,
    })
    s.task(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          ch:send("task closed", true)
        end,
      })
      ch:receive("never")
    end)
    s.yield()
    while true do
    end
  end)
  assert(ch:receive("closed", 0) == REACHED and ch:receive("task closed", 0))
end

-- Waiting costs nothing; what comes in short turns adds up.
do
  local ch = shoal.channel()
  local p = shoal.spawn({ cpu_limit = 5 }, function()
    ch:receive("k")
    require("shoal").sleep(0.01)
    local t = { 2, 1 }
    table.sort(t, function(a, b)
      ch:receive("in sort")
      return a < b
    end)
    return "done", require("shoal").self():stats().cpu
  end)
  shoal.sleep(0.1)
  ch:send("k", 1)
  for _ = 1, 10 do
    ch:send("in sort", 1)
  end
  local ok, result, cpu = p:join()
  assert(ok and result == "done" and cpu > 0 and cpu < 5, result)
end

-- A limit is no reason to go on: who waits for ever is still found.
do
  local status, _, err = support.run([[
    local shoal = require "shoal"
    local p = shoal.spawn({ cpu_limit = 1000 }, function()
      table.sort({ 2, 1 }, function() require "shoal".channel():receive("never") end)
    end)
    p:join()
  ]])
  assert(status == 1 and err:find("deadlock: nothing can run any more", 1, true), err)
end

-- It is reported as other errors are; one that is cancelled is cancelled.
do
  local status, _, err = support.run([[
    require "shoal".spawn({ name = "busy", cpu_limit = 0.01 }, "while true do end")
  ]])
  assert(status == support.unjoined, status)
  -- (Without a traceback, if it has been used up before the body began.)
  local who = ("shoal: process %d (busy): "):format(support.script_id + 1)
  assert(err:find(who .. "cpu limit of 0.01 s reached\n", 1, true), err)
  local p
  do
    local child <close> = shoal.spawn({ cpu_limit = 1000 }, "while true do end")
    p = child
  end
  expect(pack(p:join()), nil, shoal.cancelled)
end

-- Nobody can be given more than the creator has; without the option, it is the same.
do
  local p = shoal.spawn({ cpu_limit = 20 }, function()
    local s = require("shoal")
    local ok, err = pcall(s.spawn, { cpu_limit = 30 }, "")
    local endless = pcall(s.spawn, { cpu_limit = math.huge }, "")
    local less = s.spawn({ cpu_limit = 0.01 }, "while true do end")
    return ok, err, endless, select(2, less:join())
  end)
  local ok, err, endless, less = p:result()
  assert(not ok and err:find("this process itself has no more than 20.0 s", 1, true), err)
  assert(not endless and less == "cpu limit of 0.01 s reached")
  -- (To start the child may take the time of the parent already; then nobody joins the child, and
  -- the error of a daemon does not count.)
  local q = shoal.spawn({ cpu_limit = 0.03 }, function()
    return select(2, require("shoal").spawn({ daemon = true }, "while true do end"):join())
  end)
  assert(select(2, q:join()) == "cpu limit of 0.03 s reached")
  assert(shoal.spawn({ cpu_limit = math.huge }, "return 1"):result() == 1)
end
