-- SPDX-License-Identifier: MIT
-- shoal.shield: no cancel is raised in it.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local ch = shoal.channel()

-- It returns what the function returns, raises what that raises, and may wait.
do
  expect(
    pack(shoal.shield(function(...)
      shoal.sleep(0.001)
      return ...
    end, 1, nil, 3, nil)),
    1,
    nil,
    3,
    nil
  )
  expect(pack(shoal.shield(print and function() end)))
  expect_error("mine", shoal.shield, error, "mine")
  expect_error("bad argument #1", shoal.shield)
  expect_error("#1 to 'shield' (function expected, got number)", function()
    shoal.shield(5)
  end)
  local t = shoal.task(function()
    shoal.shield(function()
      error("deep")
    end)
  end)
  local _, _, traceback = t:join()
  assert(traceback:find("in function 'shoal.shield'", 1, true), traceback)
  assert(traceback:find("in function 'error'", 1, true), traceback)
end

-- What waits in it goes on when it is cancelled; the cancel comes at the next wait behind it.
do
  local log = {}
  local t = shoal.task(function()
    shoal.shield(function()
      log[#log + 1] = ch:receive("first")
      log[#log + 1] = ch:receive("second")
      pcall(error)
    end)
    log[#log + 1] = "behind"
    ch:receive("never")
    log[#log + 1] = "not reached"
  end)
  shoal.yield()
  expect(pack(t:cancel(0)), nil, "timeout")
  ch:send("first", 1)
  shoal.yield()
  assert(t:status() == "waiting")
  ch:send("second", 2)
  expect(pack(t:join()), nil, shoal.cancelled)
  assert(table.concat(log, " ") == "1 2 behind")
end

-- They nest, in coroutines, too; and an error ends one.
if not support.host then
  local log = {}
  local t = shoal.task(function()
    shoal.shield(function()
      shoal.shield(ch.receive, ch, "go")
      pcall(shoal.shield, error)
      coroutine.wrap(function()
        log[#log + 1] = ch:receive("go")
        shoal.shield(coroutine.wrap(function()
          table.sort({ 2, 1 }, function(a, b)
            log[#log + 1] = ch:receive("go")
            return a < b
          end)
        end))
      end)()
      log[#log + 1] = ch:receive("go")
    end)
    pcall(shoal.shield, error)
    pcall(ch.receive, ch, "go")
    log[#log + 1] = "not reached"
  end)
  shoal.yield()
  t:cancel()
  for i = 1, 5 do
    ch:send("go", i)
  end
  expect(pack(t:join()), nil, shoal.cancelled)
  assert(table.concat(log, " ") == "2 3 4", table.concat(log, " "))
  expect(pack(ch:receive("go", 0)), 5)
end

-- A coroutine that yields in one does not shield what runs meanwhile.
do
  local inner = coroutine.wrap(function()
    shoal.shield(function()
      coroutine.yield(1)
      return ch:receive("inside")
    end)
    return "done"
  end)
  local log = {}
  local t = shoal.task(function()
    inner()
    pcall(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          log[#log + 1] = "closed"
        end,
      })
      ch:receive("outside")
    end)
  end)
  shoal.yield()
  expect(pack(t:cancel(20)), true)
  assert(log[1] == "closed")
end

-- In cleanup code it takes the time that it needs.
do
  local log = {}
  local t = shoal.task(function()
    local _ <close> = setmetatable({}, {
      __close = function()
        shoal.shield(function()
          log[#log + 1] = ch:receive("word")
        end)
        log[#log + 1] = pcall(error, "caught")
        ch:receive("never")
      end,
    })
    ch:receive("never")
  end)
  shoal.yield()
  expect(pack(t:cancel(0.001)), nil, "timeout")
  shoal.sleep(0.01)
  assert(t:status() == "waiting")
  ch:send("word", "word")
  expect(pack(t:join()), nil, shoal.cancelled)
  assert(log[1] == "word" and log[2] == false)
end

-- A process that cancels itself in one.
do
  local p = shoal.spawn(function()
    shoal.shield(function()
      shoal.self():cancel()
      shoal.sleep(0.001)
      ch:send("said", shoal.task(shoal.sleep, 60):join() == nil)
    end)
    shoal.sleep(0.001)
    ch:send("said", "not this")
  end)
  expect(pack(p:join()), nil, shoal.cancelled)
  assert(ch:receive("said", 0) == true)
  expect(pack(ch:receive("said", 0)), nil, "timeout")
end
