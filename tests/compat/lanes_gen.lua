-- SPDX-License-Identifier: MIT
-- Lanes: what they are given, what they return, how they end.
local shoal = require("shoal")
local support = require("support")
local lanes = require("lanes").configure({ with_timers = true, track_lanes = true })
local expect, expect_error = support.expect, support.expect_error

assert(require("shoal.lanes") == lanes and lanes.configure() == lanes)

-- Libraries are those that were asked for, and no others.
do
  local function globals()
    local names = {}
    for name in next, _G do
      names[#names + 1] = name
    end
    return names
  end
  local function has(libraries, ...)
    local names = {}
    local body = lanes.gen(libraries, globals)
    for _, name in ipairs(body()[1]) do
      names[name] = true
    end
    for _, name in ipairs({ ... }) do
      assert(names[name], name)
    end
    return names
  end
  has("base,table", "print", "table", "cancel_test", "set_finalizer", "lane_threadname")
  local none = lanes.gen(function()
    return _G == nil, print == nil, cancel_test ~= nil -- luacheck: ignore
  end)
  expect(table.pack(none():join()), true, true, true, true)
  local few = has("string", "print", "string")
  assert(not few.table and not few.io and not few.require and not few.os)
  local package_too = lanes.gen("package", function()
    return pcall(require, "io")
  end)
  assert(package_too()[1] == false)
  assert(has("*", "io", "os", "require").coroutine)
  local ok, err = lanes
    .gen("base", function()
      return string.format("%d", 1)
    end)()
    :join()
  assert(not ok and err:find("global 'string'", 1, true), err)
end

-- Arguments, upvalues and results are copies; a cached result is one value.
do
  local list = { 1, 2 }
  local h = lanes.gen("*", function(t, n, ...)
    t[1] = 9
    return t, list, n, select("#", ...), string.format
  end)(list, nil, nil, nil)
  local r = h[1]
  assert(r == h[1] and r ~= list and r[1] == 9 and list[1] == 1)
  assert(h[0] == 5 and h[2][2] == 2 and h[3] == nil and h[4] == 2 and h[5] == string.format)
end

-- Errors: the value, the place, the trace that was asked for.
do
  local function fails()
    error({ code = 7 })
  end
  local _, err, trace = lanes.gen("*", fails)():join()
  assert(err.code == 7 and trace == nil)
  _, err, trace = lanes.gen("*", { error_trace_level = "basic" }, fails)():join()
  assert(err.code == 7 and trace[1] == "[C]:?" and trace[2]:find("lanes_gen%.lua:%d+$"))
  local h = lanes.gen("*", function()
    error("oh")
  end)()
  assert(h[-1]:find("lanes_gen.lua:%d+: oh$"))
  expect_error("oh", function()
    return h[1]
  end)
  assert(h.status == "error" and h.error_trace_level == "minimal")
end

-- Finalizers run, the last one first; an error of one is the lane's, and the rest is left out.
do
  local l = lanes.linda()
  local function finalized(how)
    local h = lanes.gen("*", function()
      set_finalizer(function(...) -- luacheck: ignore
        l:send("end", "first", select("#", ...), (...))
      end)
      set_finalizer(function(...) -- luacheck: ignore
        l:send("end", "second")
        if how == "finalizer" then
          error("in a finalizer", 0)
        end
      end)
      if how == "error" then
        error("body", 0)
      elseif how == "cancel" then
        l:receive("never")
      end
      return "result"
    end)()
    if how == "cancel" then
      while h.status ~= "waiting" do
        shoal.yield()
      end
      assert(h:cancel())
    end
    local ok, err = h:join()
    local list = table.pack(select(2, l:receive_batched(0, "end", 1, 9)))
    return ok, err, list
  end
  local ok, result, list = finalized("done")
  assert(ok and result == "result")
  expect(list, "second", "first", 0, nil)
  ok, result, list = finalized("error")
  assert(ok == nil and result == "body")
  expect(list, "second", "first", 2, "body")
  ok, result, list = finalized("cancel")
  assert(ok == nil and result == lanes.cancel_error)
  expect(list, "second", "first", 1, lanes.cancel_error)
  ok, result, list = finalized("finalizer")
  assert(ok == nil and result == "in a finalizer", tostring(result))
  expect(list, "second")
end

-- A soft cancel is a request, which the lane sees in cancel_test and at its lindas.
do
  local l = lanes.linda()
  local h = lanes.gen("*", function()
    while not cancel_test() do -- luacheck: ignore
    end
    return cancel_test(), l:send("k", 1) -- luacheck: ignore
  end)()
  expect(table.pack(h:cancel("soft")), true, "done")
  expect(table.pack(h:join()), true, "soft", nil, lanes.cancel_error)
  -- Close handlers run on a hard cancel of one that computes.
  h = lanes.gen("*", function()
    local _ <close> = setmetatable({}, {
      __close = function()
        l:send("closed", true)
      end,
    })
    l:send("begun", true)
    while true do
      pcall(error)
    end
  end)()
  assert(l:receive("begun") == "begun")
  expect(table.pack(h:cancel("hard")), true, "cancelled")
  assert(l:receive(0, "closed") == "closed")
  -- One that has not begun does not begin.
  h = lanes.gen("*", function() end)()
  h:cancel(0)
  assert(h:cancel() == true)
end

-- Names, the list of lanes, `<close>`, and callbacks of handles that are collected.
do
  local l = lanes.linda({ name = "names" })
  local gen = lanes.gen("*", { name = "first" }, function()
    assert(lane_threadname() == "first") -- luacheck: ignore
    lane_threadname("second") -- luacheck: ignore
    l:send("named", true)
    l:receive("end")
  end)
  do
    local h <close> = gen()
    assert(l:receive("named") == "named" and h:get_threadname() == "second")
    local list = lanes.threads()
    assert(#list == 1 and list[1].name == "second", #list)
    l:send("end", true)
  end
  local names = {}
  local function collected(name, status)
    names[#names + 1] = name .. " " .. status
  end
  local h = lanes.gen("*", { gc_cb = collected, name = "collected" }, function() end)()
  h:join()
  h = nil -- luacheck: ignore
  collectgarbage()
  collectgarbage()
  assert(names[1] == "collected closed", names[1])
end

-- The options `globals`, `required`, `package`, on_state_create in their places.
do
  local h = lanes.gen("*", {
    globals = { X = { 1 } },
    package = {
      path = "here/?.lua",
      preload = {
        ours = function()
          return "ours"
        end,
      },
    },
    required = { "ours" },
  }, function()
    return X[1], package.path, require("ours") -- luacheck: ignore
  end)()
  expect(table.pack(h:join()), true, 1, "here/?.lua", "ours")
end

-- A lane starts lanes of its own, with the settings of the first one.
do
  local h = lanes.gen("*", function()
    local inner = require("lanes")
    assert(inner.configure({ api = 3 }) == inner) -- too late
    return inner
      .gen("*", function()
        return require("lanes").gen("*", "return 'deep'")()[1]
      end)()
      :join()
  end)()
  expect(table.pack(h:join()), true, true, "deep")
end

-- Timers set the time, once or again and again.
do
  local l = lanes.linda()
  local before = lanes.now_secs()
  lanes.timer(l, "once", 0.01)
  local key, time = l:receive("once")
  assert(key == "once" and time >= before and time <= lanes.now_secs())
  lanes.timer(l, "beat", 0.001, 0.001)
  for _ = 1, 3 do
    assert(l:receive("beat") == "beat")
  end
  local list = lanes.timers()
  assert(#list == 1 and list[1][1] == l and list[1][2] == "beat" and list[1][3][2] == 0.001)
  lanes.timer(l, "beat", 0)
  assert(#lanes.timers() == 0)
  lanes.timer(l, "date", os.date("*t"))
  assert(l:receive("date") == "date")
end

-- A wait for what never comes is an error, not a hang.
expect_error("deadlock", function()
  lanes.linda({ name = "lonely" }):receive("k")
end)

do
  local h = lanes.gen("*", function()
    lanes.linda():receive("k")
  end)()
  local err = expect_error("deadlock", function()
    return (h:join())
  end)
  assert(err:find("lanes_gen.lua:%d+: deadlock"), err)
  h:cancel()
end

-- A handle that is collected leaves its lane alone.
do
  local l = lanes.linda()
  lanes.gen("*", function()
    l:receive("go")
    l:send("gone", true)
  end)()
  collectgarbage()
  l:send("go", true)
  assert(l:receive("gone") == "gone")
end

-- At the end of the program lanes are asked to end, and have time for it.
do
  local status, out, err = support.run([[
    local lanes = require("lanes").configure({ shutdown_timeout = 20 })
    lanes.finally(function(ended)
      print("finally", ended)
    end)
    lanes.gen("*", function()
      while not cancel_test() do end
      print("asked")
    end)()
    local l = lanes.linda()
    lanes.gen("*", function()
      print(l:receive("never"))
    end)()
    print("script")
  ]])
  assert(status == 0 and err == "", err)
  assert(out:find("script\nfinally\tfalse\n", 1, true), out)
  assert(out:find("asked", 1, true) and out:find("nil\tuserdata", 1, true), out)
  status, out, err = support.run([[
    local lanes = require("lanes")
    lanes.gen("*", function()
      while true do end
    end)()
    local failing = lanes.gen("*", function()
      error("nobody joins me")
    end)()
    while failing.status ~= "error" do lanes.sleep(0.001) end
  ]])
  assert(status == 0 and out == "" and err:find("nobody joins me", 1, true), err)
  status, out = support.run([[
    local lanes = require("lanes")
    lanes.gen("*", function() while true do end end)()
    print("before")
    os.exit(3, true)
  ]])
  assert(status == 3 and out == "before\n")
end
