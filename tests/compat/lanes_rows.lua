-- SPDX-License-Identifier: MIT
-- The edge cases of Lanes, in the order in which they build on each other. Each is a name and a
-- call of which the outcome is shown.
return function(lanes, api, show)
  local is4 = api == 4
  local l = is4 and lanes.linda({ name = "probe" }) or lanes.linda("probe")
  local null = lanes.null or l.null

  -- Lindas ----------------------------------------------------------------------------------------
  show("send(k,1)", l.send, l, "k", 1)
  show("send(k,1,2,3) atomic", l.send, l, "k", 1, 2, 3)
  show("send(0,k,v)", l.send, l, 0, "k", 5)
  show("send(nil,k,v)", l.send, l, nil, "k", 6)
  show("send(-1,k,v) negative timeout", l.send, l, -1, "k", 6)
  show("send(k) no data", l.send, l, "k")
  show("send(k,nil)", l.send, l, "n", nil)
  show("receive(0,n) a nil", l.receive, l, 0, "n")
  show("send(k,null)", l.send, l, "n", null)
  show("receive(0,n) null", l.receive, l, 0, "n")
  show("count(k)", l.count, l, "k")
  show("count(unknown)", l.count, l, "zzz")
  show("count()", l.count, l)
  show("count(k,n,zzz)", l.count, l, "k", "n", "zzz")
  show("get(k)", l.get, l, "k")
  show("get(k,3)", l.get, l, "k", 3)
  show("get(k,100)", l.get, l, "k", 100)
  show("get(unknown)", l.get, l, "zzz")
  show("receive(0,k)", l.receive, l, 0, "k")
  show("receive(0,zzz,k) order", l.receive, l, 0, "zzz", "k")
  show("receive(0.01,zzz) timeout", l.receive, l, 0.01, "zzz")
  show("receive(-1,zzz)", function()
    return is4 and l:receive(-1, "zzz") or "skipped(v3: negative = infinite?)"
  end)
  if is4 then
    show("receive_batched(0,k,2)", l.receive_batched, l, 0, "k", 2)
    show("receive_batched(0,k,9) not enough", l.receive_batched, l, 0, "k", 9)
    show("receive_batched(0,k,1,9)", l.receive_batched, l, 0, "k", 1, 9)
    show("receive_batched(0,k,3,1) bad", l.receive_batched, l, 0, "k", 3, 1)
    show("receive_batched(0,k,0) bad", l.receive_batched, l, 0, "k", 0)
  else
    show("receive(0,batched,k,2)", l.receive, l, 0, l.batched, "k", 2)
    show("receive(0,batched,k,9)", l.receive, l, 0, l.batched, "k", 9)
    show("receive(0,batched,k,1,9)", l.receive, l, 0, l.batched, "k", 1, 9)
    show("receive(0,batched,k,3,1) bad", l.receive, l, 0, l.batched, "k", 3, 1)
  end
  show("limit(q,2)", l.limit, l, "q", 2)
  show("limit(q) read", l.limit, l, "q")
  show("send(0,q,1)", l.send, l, 0, "q", 1)
  show("send(0,q,2,3) over limit", l.send, l, 0, "q", 2, 3)
  show("send(0,q,2)", l.send, l, 0, "q", 2)
  show("send(0,q,3) full", l.send, l, 0, "q", 3)
  show("set(q,1,2,3) ignores limit", l.set, l, "q", 1, 2, 3)
  show("limit(q) when over", l.limit, l, "q")
  show("limit(q,10) opens room", l.limit, l, "q", 10)
  show("limit(q,-1)", l.limit, l, "q", -1)
  show("limit(q,'unlimited')", l.limit, l, "q", "unlimited")
  show("limit(q,0)", l.limit, l, "q", 0)
  show("send(0,q,x) limit 0", l.send, l, 0, "q", 1)
  show("set(q) clear", l.set, l, "q")
  show("get(q) after clear", l.get, l, "q")
  show("set(q,nil)", l.set, l, "q", nil)
  show("get(q) stored nil", l.get, l, "q")
  show("dump()", function()
    local list = {}
    for key, value in pairs(l:dump()) do
      local fields = {}
      for name, field in pairs(value) do
        fields[#fields + 1] = name .. "=" .. tostring(field)
      end
      table.sort(fields)
      list[#list + 1] = key .. ":{" .. table.concat(fields, ",") .. "}"
    end
    table.sort(list)
    return table.concat(list, " ")
  end)
  show("key table", l.send, l, {}, 1)
  show("key function", l.send, l, print, 1)
  show("key boolean", l.send, l, true, 1)
  show("key number w/o nil timeout", l.send, l, 5, "v")
  show("key number with nil timeout", l.send, l, nil, 5, "v")
  show("receive(nil,5)", l.receive, l, nil, 5)
  show("value coroutine", l.send, l, "c", coroutine.create(print))
  show("value io.stdout", l.send, l, "c", io.stdout)
  show("value C function print", l.send, l, "c", print)
  show("receive C function", l.receive, l, 0, "c")
  show("value linda in linda", l.send, l, "ll", l)
  show("receive linda", function()
    local k, v = l:receive(0, "ll")
    return k, tostring(v), v == l
  end)
  show("value cyclic table", function()
    local t = {}
    t.t = t
    l:send("cy", t)
    local _, v = l:receive(0, "cy")
    return v.t == v, v ~= t
  end)
  show("shared refs in one send", function()
    local a = {}
    l:send("sr", { a, a })
    local _, v = l:receive(0, "sr")
    return v[1] == v[2]
  end)
  show("shared refs over 2 values", function()
    local a = {}
    l:send("sr", a, a)
    local _, v = l:receive(0, "sr")
    local _, w = l:receive(0, "sr")
    return v == w
  end)
  show("metatable kept", function()
    local mt = { __index = { x = 7 } }
    l:send("mt", setmetatable({}, mt))
    local _, v = l:receive(0, "mt")
    return v.x, getmetatable(v) == mt
  end)
  show("closure w/ upvalue", function()
    local n = 41
    l:send("fn", function()
      n = n + 1
      return n
    end)
    local _, f = l:receive(0, "fn")
    return f(), f(), n
  end)
  show("two closures share upvalue", function()
    local n = 0
    local function increment()
      n = n + 1
      return n
    end
    local function read()
      return n
    end
    l:send("fn", { increment, read })
    local _, f = l:receive(0, "fn")
    f[1]()
    return f[2]()
  end)
  show("_G as value", function()
    l:send("g", _G)
    local _, v = l:receive(0, "g")
    return v == _G
  end)
  show("tostring(linda)", tostring, l)
  show("linda .. str", function()
    return "a" .. l
  end)
  show("type/getmetatable", function()
    return type(l), getmetatable(l)
  end)
  show("linda index unknown", function()
    return l.foo
  end)
  show("cancel()", l.cancel, l, "both")
  show("send on cancelled", l.send, l, "k", 1)
  show("receive on cancelled", l.receive, l, 0, "k")
  show("get on cancelled", l.get, l, "k")
  show("set on cancelled", l.set, l, "k", 1)
  show("limit on cancelled", l.limit, l, "k", 1)
  show("count on cancelled", l.count, l, "k")
  show("cancel(none)", l.cancel, l, "none")
  show("cancel(bogus)", l.cancel, l, "bogus")
  l:cancel("none")
  show("linda.status", function()
    return l.status
  end)

  -- Lanes -----------------------------------------------------------------------------------------
  local function join(h, ...)
    return h:join(...)
  end
  local function failing(...)
    local values = table.pack(...)
    return lanes.gen("base", function()
      error(values[1])
    end)()
  end
  local function returning(...)
    local values = table.pack(...)
    return lanes.gen("base,table", function()
      return table.unpack(values, 1, values.n)
    end)()
  end
  local function blocked(libraries, body)
    local h = lanes.gen(libraries, body)()
    while h.status ~= "waiting" do
    end
    return h
  end
  -- Cancels it hard, and says all about it.
  local function cancelled(h)
    local a, b = h:cancel("hard", 60)
    return a, b, h.status, h:join()
  end

  show("join ok 2 values", join, returning(1, 2))
  show("join no value", join, returning())
  show("join twice", function()
    local h = returning(1)
    h:join()
    return h:join()
  end)
  show("join error string", function()
    return lanes
      .gen("base", function()
        error("boom")
      end)()
      :join()
  end)
  show("join error table", join, failing({ code = 7 }))
  show("join error nil", join, failing())
  show("join(0) running", function()
    local h = lanes.gen("*", function()
      repeat
      until l:receive(0, "asked")
      return 1
    end)()
    local outcome = table.pack(h:join(0))
    l:send("asked", true)
    h:join()
    return table.unpack(outcome, 1, outcome.n)
  end)
  show("h[1] error propagates", function()
    return failing("boom")[1]
  end)
  show("h[-1]", function()
    return failing("boom")[-1]
  end)
  show("h[0] ok", function()
    local h = returning(7, 8)
    return h[0], h[1], h[2], h[3]
  end)
  show("h.status done/error", function()
    local h = failing("x")
    h:join()
    return h.status
  end)
  show("h.foo", function()
    local h = returning()
    h:join()
    return h.foo
  end)
  show("h[{}]", function()
    local h = returning()
    h:join()
    return h[{}]
  end)
  show("cancel done lane", function()
    local h = returning(1)
    h:join()
    return h:cancel()
  end)
  show("cancel blocked hard", function()
    return cancelled(blocked("base", function()
      l:receive("never")
    end))
  end)
  show("soft cancel blocked wake", function()
    local h = blocked("base", function()
      local a, b = l:receive("never")
      return a, b
    end)
    local a, b = h:cancel("soft", 60, true)
    return a, b, h.status, h:join()
  end)
  show("soft cancel blocked no wake", function()
    local h = blocked("base", function()
      local a, b = l:receive("never")
      return a, b
    end)
    local a, b = h:cancel("soft", 0.1)
    local status = h.status
    h:cancel("hard", 60)
    return a, b, status
  end)
  show("hard cancel busy loop no hook", function()
    local h = lanes.gen("base", function()
      for _ = 1, 1e10 do
      end
      return "finished"
    end)()
    local a, b = h:cancel("hard", 0)
    return a, b, h:join()
  end)
  show("hook cancel busy loop", function()
    local h = lanes.gen("base", function()
      while true do
      end
    end)()
    local a, b = h:cancel("count", 100, 60)
    return a, b, h.status
  end)
  show("hook cancel swallowed by pcall", function()
    local h = lanes.gen("base", function()
      local n = 0
      for _ = 1, 3 do
        pcall(function()
          for _ = 1, 1e10 do
          end
        end)
        n = n + 1
      end
      return "survived" .. n
    end)()
    lanes.sleep(0.02)
    local a, b = h:cancel("count", 100, 60)
    return a, b, h.status, h:join()
  end)
  show("hard cancel inside pcall receive", function()
    return cancelled(blocked("base", function()
      local ok = pcall(l.receive, l, "never")
      return "survived", ok
    end))
  end)
  show("hard cancel inside coroutine", function()
    return cancelled(blocked("base,coroutine", function()
      local co = coroutine.create(function()
        l:receive("never")
      end)
      return "survived", (coroutine.resume(co))
    end))
  end)
  show("upvalue io.stdout", function()
    local o = io.stdout
    return lanes
      .gen("*", function()
        return tostring(o):sub(1, 4)
      end)()
      :join()
  end)
  show("arg coroutine", function()
    return lanes.gen("*", function() end)(coroutine.create(print)):join()
  end)
  show("return coroutine", function()
    local h = lanes.gen("*", function()
      return coroutine.create(print)
    end)()
    return h:join()
  end)
  show("lane handle as arg", function()
    local h = returning()
    h:join()
    return lanes.gen("*", function() end)(h):join()
  end)
  show("unknown lib", lanes.gen, "foo", function() end)
  show("unknown opt", lanes.gen, { foo = 1 }, function() end)
  show("print without base", function()
    return lanes
      .gen(function()
        print("x")
      end)()
      :join()
  end)
  show("string body", function()
    return lanes.gen("*", "return 1+1")():join()
  end)
  show("yield in lane", function()
    return lanes
      .gen("*", function()
        coroutine.yield(1)
      end)()
      :join()
  end)
  show("nested lane", function()
    return lanes
      .gen("*", function()
        local inner = require("lanes")
        return inner.gen("*", function()
          return 5
        end)()[1]
      end)()
      :join()
  end)
  show("globals opt", function()
    return lanes
      .gen("base", { globals = { X = 9 } }, function()
        return X -- luacheck: ignore
      end)()
      :join()
  end)
  show("finalizer on error", function()
    local h = lanes.gen("base", function()
      set_finalizer(function(e, st) -- luacheck: ignore
        l:set("fin", tostring(e), type(st))
      end)
      error("zz", 0)
    end)()
    local _, b = h:join()
    return b, l:get("fin", 2)
  end)
  show("priority bad", function()
    return lanes.gen({ priority = 10 }, function() end)()
  end)

  -- The rest --------------------------------------------------------------------------------------
  show("lanes.threads untracked", function()
    return lanes.threads()
  end)
  show("now_secs type", function()
    return type(lanes.now_secs and lanes.now_secs())
  end)
  show("sleep(0.01)", lanes.sleep, 0.01)
  show("nameof(print)", lanes.nameof, print)
  show("nameof(string.format)", lanes.nameof, string.format)
  show("genlock", function()
    local lock = lanes.genlock(l, "M", 1)
    return lock(1), lock(1, "try"), lock(-1)
  end)
  show("genlock N=2", function()
    local lock = lanes.genlock(l, "M2", 2)
    return lock(1), lock(1), lock(1, "try"), lock(-2)
  end)
  show("genatomic", function()
    local add = lanes.genatomic(l, "A", 10)
    return add(), add(-3), add(0)
  end)
  show("timer (disabled)", function()
    return lanes.timer(l, "t", 0.1)
  end)
end
