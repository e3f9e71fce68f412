-- SPDX-License-Identifier: MIT
-- The places where Lua code runs and can be suspended, for waits_everywhere.lua.
--
-- places[name] = f(wait): calls `wait(v)` there once or more; it returns v.
-- value(name, f): a place that must return 7, by way of a wait.

-- Suspends the task. Debian's Lua 5.4.4 corrupts the stack if that grows while __concat runs,
-- unless it is suspended meanwhile: there L->top is kept over the call.
local suspend = require("shoal").yield

return function(places, value)
  -- Where Lua can suspend -------------------------------------------------------------------------

  value("the task itself", function(wait)
    return wait(7)
  end)

  value("a tail call", function(wait)
    local function tail(n)
      if n == 0 then
        return wait(7)
      end
      return tail(n - 1)
    end
    return tail(100)
  end)

  value("the middle of an expression", function(wait)
    local t = { wait(1), wait(2), { x = wait(3) } }
    return t[1] + t[2] + t[3].x + #{ wait(1) }
  end)

  places["pcall"] = function(wait)
    local ok, got = pcall(wait, 7)
    assert(ok == true and got == 7)
    local failed, err = pcall(function()
      wait(1)
      error({ wait("x") })
    end)
    assert(failed == false and err[1] == "x")
  end

  places["pcall of pcall"] = function(wait)
    local a, b, c, d = pcall(pcall, pcall, wait, 7)
    assert(a and b and c and d == 7)
  end

  places["xpcall"] = function(wait)
    local ok, got = xpcall(wait, print, 7)
    assert(ok == true and got == 7)
    local failed, err = xpcall(function(x)
      wait(1)
      error(x, 0)
    end, function(message)
      return message .. "!"
    end, wait("no"))
    assert(failed == false and err == "no!")
  end

  local BINARY = {
    add = function(a, b)
      return a + b
    end,
    sub = function(a, b)
      return a - b
    end,
    mul = function(a, b)
      return a * b
    end,
    div = function(a, b)
      return a / b
    end,
    mod = function(a, b)
      return a % b
    end,
    pow = function(a, b)
      return a ^ b
    end,
    idiv = function(a, b)
      return a // b
    end,
    band = function(a, b)
      return a & b
    end,
    bor = function(a, b)
      return a | b
    end,
    bxor = function(a, b)
      return a ~ b
    end,
    shl = function(a, b)
      return a << b
    end,
    shr = function(a, b)
      return a >> b
    end,
    concat = function(a, b)
      return a .. b
    end,
  }

  for event, operate in pairs(BINARY) do
    value("__" .. event, function(wait)
      local x = setmetatable({}, {
        ["__" .. event] = function(a, b)
          local got = wait(type(a) == "table" and b or a)
          suspend()
          return got
        end,
      })
      assert(operate(2, x) == 2)
      return operate(x, 7)
    end)
  end

  places["__concat in the middle"] = function(wait)
    local mt = {}
    mt.__concat = function(a, b)
      local got = wait((type(a) == "table" and "x" or a) .. (type(b) == "table" and "x" or b))
      suspend()
      return got
    end
    local x = setmetatable({}, mt)
    assert("a" .. "b" .. x .. "c" .. x .. "d" == "abxcxd")
  end

  for event, operate in pairs({
    unm = function(a)
      return -a
    end,
    bnot = function(a)
      return ~a
    end,
    len = function(a)
      return #a
    end,
    index = function(a)
      return a.missing
    end,
    call = function(a)
      return a()
    end,
  }) do
    value("__" .. event, function(wait)
      return operate(setmetatable({}, {
        ["__" .. event] = function()
          return wait(7)
        end,
      }))
    end)
  end

  value("__newindex", function(wait)
    local x = setmetatable({}, {
      __newindex = function(t, k, v)
        rawset(t, k, wait(v))
      end,
    })
    x.field = 7
    return x.field
  end)

  for event, operate in pairs({
    eq = function(a, b)
      return a == b
    end,
    lt = function(a, b)
      return a < b
    end,
    le = function(a, b)
      return a <= b
    end,
  }) do
    places["__" .. event] = function(wait)
      local mt = {
        ["__" .. event] = function(a, b)
          return wait(a.n == b.n)
        end,
      }
      local function make(n)
        return setmetatable({ n = n }, mt)
      end
      assert(operate(make(1), make(1)) == true)
      assert(operate(make(1), make(2)) == false)
      assert(
        not operate(make(1), make(2)) and (operate(make(3), make(3)) and "yes" or "no") == "yes"
      )
    end
  end

  value("__pairs", function(wait)
    local x = setmetatable({}, {
      __pairs = function()
        return next, { [wait(7)] = true }
      end,
    })
    local sum = 0
    for key in pairs(x) do
      sum = sum + key
    end
    return sum
  end)

  places["__close"] = function(wait)
    local log = {}
    local function closing(name)
      return setmetatable({}, {
        __close = function(_, err)
          log[#log + 1] = wait(name) .. ":" .. tostring(err)
        end,
      })
    end
    do
      local _ <close> = closing("a")
      local _ <close> = closing("b")
    end
    local function returns()
      local _ <close> = closing("c")
      return wait(1), wait(2), 3
    end
    assert(table.concat({ returns() }, " ") == "1 2 3")
    for i = 1, 2 do
      local _ <close> = closing("d" .. i)
      if i == 2 then
        break
      end
    end
    assert(not pcall(function()
      local _ <close> = closing("e")
      error("why", 0)
    end))
    local expected = "b:nil a:nil c:nil d1:nil d2:nil e:why"
    assert(table.concat(log, " ") == expected, table.concat(log, " "))
  end

  places["the closing value of a loop"] = function(wait)
    local closed = 0
    local x = setmetatable({}, {
      __close = function()
        closed = closed + wait(1)
      end,
    })
    for i in next, { 1, 2 }, nil, x do
      if i == 2 then
        break
      end
    end
    assert(closed == 1)
  end

  places["an iterator"] = function(wait)
    local sum = 0
    local function step(limit, i)
      if i < limit then
        return wait(i + 1)
      end
    end
    for i in step, wait(3), 0 do
      sum = sum + i
    end
    assert(sum == 6)
  end

  places["dofile"] = function(wait)
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    file:write("return wait_of_dofile(7)")
    file:close()
    rawset(_G, "wait_of_dofile", wait)
    local got = dofile(path)
    os.remove(path)
    assert(got == 7)
  end

  -- Coroutines of the user ------------------------------------------------------------------------

  places["a coroutine"] = function(wait)
    local co
    co = coroutine.create(function(a)
      assert(coroutine.running() == co and coroutine.isyieldable())
      local b = coroutine.yield(wait(a) + 1)
      assert(coroutine.running() == co)
      wait(1)
      return wait(b) + 1
    end)
    local ok, got = coroutine.resume(co, 1)
    assert(ok and got == 2 and coroutine.status(co) == "suspended")
    ok, got = coroutine.resume(co, 5)
    assert(ok and got == 6 and coroutine.status(co) == "dead")
  end

  places["a coroutine three levels deep"] = function(wait)
    local wrap, yield = coroutine.wrap, coroutine.yield
    local function numbers(n)
      return wrap(function()
        for i = 1, n do
          wait(i)
          yield(i)
          wait(i)
        end
      end)
    end
    local function twice(source)
      return wrap(function()
        for i in source do
          yield(wait(i))
          yield(wait(i))
        end
      end)
    end
    local function squares(source)
      return wrap(function()
        for i in source do
          yield(wait(i) * i)
        end
        wait(1)
        error("end", 0)
      end)
    end
    local list = {}
    local ok, err = pcall(function()
      for i in squares(twice(numbers(3))) do
        list[#list + 1] = wait(i)
      end
    end)
    assert(table.concat(list, " ") == "1 1 4 4 9 9", table.concat(list, " "))
    assert(not ok and err:find("end$"), err)
  end

  places["a coroutine while others look at it"] = function(wait)
    local co, done
    co = coroutine.create(function()
      wait(1)
      assert(coroutine.status(co) == "running")
      done = true
    end)
    -- A sibling task looks while the coroutine waits.
    local looked = 0
    local t = require("shoal").task(function()
      repeat
        if coroutine.status(co) == "normal" then
          looked = looked + 1
          local ok, err = coroutine.resume(co)
          assert(not ok and err == "cannot resume non-suspended coroutine", err)
          assert(not pcall(coroutine.close, co))
        end
        require("shoal").yield()
      until done
    end)
    assert(coroutine.resume(co))
    assert(coroutine.status(co) == "dead")
    t:result()
  end

  places["coroutine.close"] = function(wait)
    local closed
    local co = coroutine.create(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          closed = wait(7)
        end,
      })
      coroutine.yield()
    end)
    coroutine.resume(co)
    assert(coroutine.close(co) and closed == 7)
  end

  places["coroutine.wrap with an error"] = function(wait)
    local f = coroutine.wrap(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          wait(1)
        end,
      })
      wait(2)
      error({ code = wait(7) })
    end)
    local ok, err = pcall(f)
    assert(not ok and err.code == 7)
  end
end
