-- SPDX-License-Identifier: MIT
-- shoal.blocking: code that blocks its thread holds up nobody else.
local shoal = require("shoal")
local support = require("support")
local expect, expect_error = support.expect, support.expect_error

-- Results and errors pass, with the traceback of where they were raised.
do
  expect(
    table.pack(shoal.blocking(function(...)
      return ..., nil
    end, 1, 2)),
    1,
    nil
  )
  expect(table.pack(shoal.blocking(select, "#", nil, nil)), 2)
  local value = {}
  local ok, err = pcall(shoal.blocking, error, value)
  assert(not ok and err == value)
  local p = shoal.spawn(function()
    local s = require("shoal")
    local function deep()
      error("boom")
    end
    s.blocking(deep)
  end)
  local _, text, trace = p:join()
  assert(text:find("boom") and trace:find("in function 'error'", 1, true), trace)
  expect_error("#1 to 'blocking' (function expected, got number)", function()
    shoal.blocking(5)
  end)
  expect(table.pack(shoal.blocking(shoal.blocking, math.max, 1, 2)), 2)
  expect(
    table.pack(coroutine.wrap(function()
      return shoal.blocking(math.max, 1, 2)
    end)()),
    2
  )
  local t = setmetatable({}, {
    __index = function(_, k)
      return shoal.blocking(tostring, k)
    end,
  })
  assert(t.x == "x")
  table.sort({ 3, 1, 2 }, function(a, b)
    return shoal.blocking(math.min, a, b) == a and a ~= b
  end)
end

-- Waits in it work: the other tasks run meanwhile, and the thread is kept.
do
  local ch = shoal.channel()
  local t = shoal.task(function()
    ch:send("answer", ch:receive("question") + 1)
  end)
  local got = shoal.blocking(function()
    ch:send("question", 1)
    shoal.sleep(0.001)
    return ch:receive("answer")
  end)
  assert(got == 2)
  t:result()
end

-- A cancel comes when it returns; nothing behind it is done.
do
  local ch = shoal.channel()
  local p = shoal.spawn(function(c)
    local s = require("shoal")
    s.blocking(function()
      c:send("in", s.self())
      s.shield(function()
        c:receive("go")
        c:send("done", 1)
      end)
    end)
    c:send("behind", 1)
  end, ch)
  ch:receive("in"):cancel()
  ch:send("go", 1)
  expect(table.pack(p:join()), nil, shoal.cancelled)
  assert(ch:receive("done") == 1)
  assert(ch:count("behind") == 0)
end
