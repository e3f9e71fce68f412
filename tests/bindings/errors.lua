-- SPDX-License-Identifier: MIT
-- Errors keep their value, place and traceback from process to process.
-- luacheck: globals leaked
local shoal = require("shoal")
local support = require("support")

local function line()
  return debug.getinfo(2, "l").currentline
end

-- A string, with file and line, and the traceback of where it was raised.
do
  local at = line() + 2
  local function inner()
    error("it broke")
  end
  local p = shoal.spawn(function()
    inner()
  end)
  local outcome = table.pack(p:join())
  assert(outcome.n == 3 and outcome[1] == nil)
  assert(outcome[2]:match("errors%.lua:" .. at .. ": it broke$"), outcome[2])
  local traceback = outcome[3]
  assert(traceback:find("stack traceback:", 1, true))
  assert(traceback:find("errors.lua:" .. at .. ": in upvalue 'inner'", 1, true), traceback)
  assert(traceback:find("errors.lua:" .. at + 3 .. ":", 1, true), traceback)
  -- As often as one likes.
  support.expect(table.pack(p:join(0)), table.unpack(outcome, 1, 3))

  -- result raises it, with the remote traceback joined on.
  local err = support.expect_error("it broke", p.result, p)
  assert(err:find("errors.lua:" .. at .. ":", 1, true))
  assert(select(2, err:gsub("stack traceback:", "")) == 1, err)
end

-- An error of Lua itself.
do
  local at = line() + 3
  local p = shoal.spawn(function()
    local t = nil
    return t.field
  end)
  local _, err = p:join()
  assert(
    err:find("errors.lua:" .. at .. ": attempt to index a nil value (local 't')", 1, true),
    err
  )
end

-- Other values arrive as they are.
for _, value in ipairs({ { code = 5 }, { list = { 1, 2 } }, 42, 1.5, true, false }) do
  local p = shoal.spawn(function()
    error(value)
  end)
  local ok, err, traceback = p:join()
  assert(ok == nil and support.same(err, value))
  assert(type(traceback) == "string", "the third result is there exactly for errors")
  local raised = table.pack(pcall(p.result, p))
  assert(raised[1] == false and support.same(raised[2], value))
end

-- nil, too.
do
  local p = shoal.spawn(function()
    error(nil)
  end)
  local outcome = table.pack(p:join())
  assert(outcome.n == 3 and outcome[1] == nil and outcome[2] == nil)
  assert(type(outcome[3]) == "string")
  support.expect(table.pack(pcall(p.result, p)), false, nil)
end

-- A table with a metatable: the metatable comes along, so its text is its own.
do
  local p = shoal.spawn(function()
    error(setmetatable({ code = 7 }, {
      __tostring = function(e)
        return "code " .. e.code
      end,
    }))
  end)
  local _, err = p:join()
  assert(err.code == 7 and tostring(err) == "code 7")
  assert(tostring(support.expect_error("code 7", p.result, p)) == "code 7")
end

-- A handle as an error.
do
  local ch = shoal.channel()
  local _, err = shoal
    .spawn(function()
      error(ch)
    end)
    :join()
  assert(err == ch)
end

-- Odd error values: the text arrives.
for _, make in ipairs({
  function()
    return coroutine.create(print)
  end,
  function()
    return require("foreign").object()
  end,
  function()
    return { co = coroutine.create(print) }
  end,
  function()
    return coroutine.wrap(print)
  end,
  function()
    return setmetatable({ coroutine.create(print) }, {
      __tostring = function()
        return "own text"
      end,
    })
  end,
}) do
  local p = shoal.spawn(function()
    error(make())
  end)
  local ok, err, traceback = p:join()
  assert(ok == nil and type(err) == "string" and type(traceback) == "string")
  assert(
    err:find("(error object is a ", 1, true) or err:find("foreign.object") or err == "own text",
    err
  )
end

-- A __tostring that fails, or gives no string.
for _, f in ipairs({ error, function() end, coroutine.yield }) do
  local ok, err = shoal
    .spawn(function()
      error(setmetatable({ coroutine.create(print) }, { __tostring = f }))
    end)
    :join()
  assert(ok == nil and type(err) == "string")
end

-- An error in a chain of processes: the place of its origin is named all the way.
do
  local at = line() + 6
  local p = shoal.spawn(function()
    local s = require("shoal")
    return s.spawn(function()
      return require("shoal")
        .spawn(function()
          error("deep down")
        end)
        :result()
    end):result()
  end)
  local _, err = p:join()
  assert(err:find("errors.lua:" .. at .. ": deep down", 1, true), err)
end

-- Error after waits, in coroutines, in close handlers.
do
  local _, err, traceback = shoal
    .spawn(function()
      local s = require("shoal")
      s.sleep(0.001)
      local f = coroutine.wrap(function()
        s.yield()
        error("in a coroutine")
      end)
      f()
    end)
    :join()
  assert(err:find("in a coroutine", 1, true) and traceback:find("errors.lua", 1, true))
  local _, closed = shoal
    .spawn(function()
      local _ <close> = setmetatable({}, {
        __close = function(_, e)
          require("shoal").yield()
          error("closing after " .. tostring(e), 0)
        end,
      })
      error("first", 0)
    end)
    :join()
  assert(closed == "closing after first", closed)
end

-- A stack overflow, and an error in the message handler.
do
  -- A sanitizer needs half a minute for so many slices.
  if not (support.every and support.sanitized) then
    local ok, err = shoal
      .spawn(function()
        local function f()
          return 1 + f()
        end
        return f()
      end)
      :join()
    assert(ok == nil and err:find("stack overflow", 1, true))
  end
  -- A task that is suspended again and again keeps no C stack: the recursion is a very long one.
  if not support.every then
    local deep = shoal.spawn(function()
      local function f(n)
        return pcall(f, n + 1)
      end
      return f(1)
    end)
    assert(deep:join() ~= nil)
  end
  local _, nested = shoal
    .spawn(function()
      local s = ("("):rep(300)
      return assert(load("return " .. s))
    end)
    :join()
  assert(type(nested) == "string")
end

-- The process goes with its error: it can no longer be found, and its status says so.
do
  local p = shoal.spawn({ name = "failing" }, error, "x")
  local ok, err = p:join()
  assert(ok == nil and err == "x" and p:status() == "error")
  assert(shoal.process("failing") == nil and shoal.process(p.id) == nil)
end

-- Tasks: as processes; the value itself, since it is the same process.
do
  local value = { coroutine.create(print) }
  local t = shoal.task(error, value)
  local ok, err, traceback = t:join()
  assert(ok == nil and err == value and type(traceback) == "string" and t:status() == "error")
  assert(select(2, pcall(t.result, t)) == value)

  local at = line() + 2
  local u = shoal.task(function()
    error("in a task")
  end)
  local _, text, where = u:join()
  assert(text:match("errors%.lua:" .. at .. ": in a task$"))
  assert(where:find("errors.lua:" .. at, 1, true))
  local raised = support.expect_error("in a task", u.result, u)
  assert(select(2, raised:gsub("stack traceback:", "")) == 1, raised)
  local n = shoal.task(error)
  assert(table.pack(n:join()).n == 3)
end

-- An error does not spoil the worker: what comes next is clean.
for i = 1, 200 do
  local p = shoal.spawn(function(n)
    assert(leaked == nil and debug.gethook() == nil)
    leaked = n
    if n % 2 == 0 then
      error({ n })
    end
    return n
  end, i)
  local ok, value = p:join()
  if i % 2 == 0 then
    assert(ok == nil and value[1] == i)
  else
    assert(ok and value == i)
  end
end
