// SPDX-License-Identifier: MIT
// A script that uses all of the language and says what came out, with calls of wait() at every
// turn. Its output does not depend on where its task is suspended.
#pragma once

namespace shoal::core {

inline constexpr const char* kWorkload = R"lua(
local N = 12
local yield, wrap = coroutine.yield, coroutine.wrap
-- Producers, filters, and an error at the end of a pipeline.
local function produce(n) return wrap(function() for i = 1, n do yield(wait(i)) end end) end
local function map(f, g) return wrap(function() for x in g do yield(wait(f(wait(x)))) end end) end
local function pick(p, g) return wrap(function() for x in g do if p(x) then yield(x) wait() end end end) end
local sum = 0
for x in map(function(x) wait() return x * 3 end, pick(function(x) return wait(x) % 2 == 0 end, produce(N * 2))) do
  sum = sum + wait(x)
end
out("pipeline", sum)
local co = coroutine.create(function(a, b)
  local c, d = yield(wait(a + b), wait("x"))
  wait()
  local ok, e = pcall(function() local f = wrap(function() wait() yield() error({c, wait(d)}) end) f() wait() f() end)
  yield(ok, e[1], e[2])
  error(wait("end of co"), 0)
end)
out(coroutine.resume(co, wait(1, 2)))
out(coroutine.resume(co, wait(3, 4)))
out(coroutine.status(co), coroutine.resume(co))
out(coroutine.status(co), coroutine.resume(co))
-- Metamethods of all kinds.
local mt = {}
local V = function(n) return setmetatable({n = n}, mt) end
for _, op in ipairs{"add", "sub", "mul", "div", "mod", "pow", "idiv", "band", "bor", "bxor", "shl", "shr"} do
  mt["__" .. op] = function(a, b) wait() return V((wait(type(a) == "table" and a.n or a) * 7
    + (type(b) == "table" and b.n or b) + #op) % 1000) end
end
mt.__unm = function(a) return V(wait(-a.n)) end
mt.__bnot = function(a) wait() return V(a.n ~ 5) end
mt.__len = function(a) return wait(a.n) end
mt.__concat = function(a, b) wait() return (type(a) == "table" and "V" .. a.n or a) .. wait("~")
  .. (type(b) == "table" and "V" .. b.n or b) end
mt.__eq = function(a, b) return wait(a.n) == wait(b.n) end
mt.__lt = function(a, b) wait() return a.n < b.n end
mt.__le = function(a, b) return wait(a.n <= b.n) end
mt.__index = function(t, k) wait() return wait(k) end
mt.__newindex = function(t, k, v) wait() rawset(t, k, wait(v)) end
mt.__call = function(self, ...) return self.n, wait(...) end
mt.__close = function(v, e) out("close", v.n, wait(e)) end
for i = 1, N do
  local a, b = V(i), V(i + 1)
  out((a + b).n, (a - 1).n, (2 * b).n, (a / b).n, (a % b).n, (a ^ b).n, (a // b).n, (a & b).n, (a | 3).n,
    (a ~ b).n, (a << b).n, (a >> b).n, (-a).n, (~a).n, #a, a .. b, "p" .. a .. "q" .. b .. 1)
  out(a == b, a ~= b, a < b, a <= b, a > b, a == V(i), a.missing, a[i], select("#", a(nil, nil)), a(1, wait(2)))
  a.new = i
  out(rawget(a, "new"))
  do local c <close> = a; local d <close> = wait(b) wait() end
  out(pcall(function() local c <close> = a wait() error("inside " .. i, 0) end))
end
-- Closures, loops, goto, varargs, recursion.
local function va(...) local a, b = wait(...) return select("#", ...), a, b, wait(...) end
out(va()) out(va(nil, nil)) out(#{va(table.unpack({}, 1, 50))})
local fs = {}
for i = 1, N do local up = i fs[i] = function(d) up = up + wait(d) return up end end
for i = 1, N do sum = sum + fs[i](i) + fs[i](1) end
out(sum)
for i = 1, N do for j = 1, N do if (wait(i) * j) % 7 == 3 then goto next end sum = sum + 1 end ::next:: end
for x = 1.0, 0.0, -0.25 do out(wait(x)) end
local function fib(n) if n < 2 then return wait(n) end return fib(n - 1) + fib(n - 2) end
out(sum, fib(9))
local function tail(n) if n == 0 then return wait("tail") end return tail(n - 1) end
out(tail(200))
local t = {}
for i = 1, N * 3 do t[i] = (i * 7919) % 101 end
table.sort(t, function(a, b) return wrap(function() yield(wait(a) < b) end)() end)
out(table.concat(t, " "))
out((("abc"):rep(N):gsub("%a", function(c) local g = wrap(function(x) wait() local y = yield(x .. x) return wait(y) end)
  g(c) return g(c:upper()) end)))
out(tostring(setmetatable({}, {__tostring = function() return wait("text") end})))
-- Protected calls, close of suspended coroutines, errors in handlers.
out(xpcall(function(...) wait() error(wait(...), 0) end, function(m) return "H " .. wait(m) end, "x"))
out(pcall(pcall, function() wait() return wait(1, 2, nil) end))
local closing = coroutine.create(function() local v <close> = V(99) wait() yield(1) end)
out(coroutine.resume(closing))
out(coroutine.close(closing), coroutine.status(closing))
local depth = wrap(function() return wrap(function() return wrap(function() wait() yield(wait("deep")) return "done" end)
  end) end)
local level3 = depth()()
out(level3()) out(level3()) out(pcall(level3))
out(pcall(wrap(function() wrap(function() wait() error("through two", 0) end)() end)))
for k, v in pairs(setmetatable({}, {__pairs = function() wait() return function(_, k)
  k = wait((k or 0) + 1) if k < 4 then return k, wait(k * k) end end, nil, nil end})) do out(k, v) end
local weak = setmetatable({}, {__mode = "k", __gc = function() wait() end})
weak = nil
collectgarbage()
out(load("local a, b = ... wait() return a * b")(6, 7), coroutine.isyieldable(), select(2, coroutine.running()))
local s = ""
for w in ("the quick brown fox"):gmatch("%a+") do s = s .. wait(w:sub(1, 1)) end
out(s, wait(nil), #wait("four"), -wait(4) // 3, wait(2) ^ wait(3), not wait(false))
)lua";

}  // namespace shoal::core
