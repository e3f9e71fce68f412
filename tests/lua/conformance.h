// SPDX-License-Identifier: MIT
// Scripts whose output in a state of ours must be that of a stock one, byte by byte.
#pragma once

namespace shoal::core {

struct ConformanceScript {
  const char* name;
  const char* text;
};

inline constexpr ConformanceScript kConformanceScripts[] = {
    {"values pass through resume and yield", R"lua(
local co = coroutine.create(function(...)
  out("start", select("#", ...), ...)
  out("got", coroutine.yield())
  out("got", coroutine.yield(nil, nil))
  out("got", coroutine.yield(1, "two", nil))
  return "end", nil
end)
out(coroutine.resume(co, 1, nil, nil))
out(coroutine.resume(co))
out(coroutine.resume(co, "a", nil))
out(coroutine.resume(co, nil))
out(coroutine.resume(co, "late"))
for _, n in ipairs{0, 1, 10, 200, 5000} do
  local f = coroutine.wrap(function(...) while true do
    coroutine.yield(select("#", ...), select(-1, ..., 7)) end end)
  local args = {}
  for i = 1, n do args[i] = i end
  out(n, f(table.unpack(args)))
  local echo = coroutine.wrap(function(...) return coroutine.yield(...) end)
  out(select("#", echo(table.unpack(args))), select("#", echo(table.unpack(args))))
end
local function many(n) return coroutine.create(function() return table.unpack({}, 1, n) end) end
out(select("#", coroutine.resume(many(900000))))
out(coroutine.resume(many(1100000)))
-- With 600000 values on the caller's stack, there is no room for as many more.
local function crowded(co, ...) return coroutine.resume(co) end
out(crowded(many(600000), table.unpack({}, 1, 600000)))
local function crowded_wrap(f, ...) return pcall(f) end
out(crowded_wrap(coroutine.wrap(function() return table.unpack({}, 1, 600000) end), table.unpack({}, 1, 600000)))
-- Nor in the coroutine for what it is given.
local full = coroutine.create(function(...) coroutine.yield() end)
out(coroutine.resume(full, table.unpack({}, 1, 600000)))
out(coroutine.resume(full, table.unpack({}, 1, 600000)))
out(coroutine.status(full), coroutine.resume(full, 1))
out(coroutine.status(full))
)lua"},
    {"the status of coroutines", R"lua(
local main, is_main = coroutine.running()
out(type(main), is_main, coroutine.status(main), coroutine.isyieldable(), coroutine.isyieldable(main))
out(pcall(coroutine.yield, 1))
out(select(2, xpcall(coroutine.yield, function(m) return m end)))
local outer, inner
outer = coroutine.create(function()
  out(coroutine.status(outer), coroutine.status(main), select(2, coroutine.running()))
  out(coroutine.isyieldable(), coroutine.isyieldable(outer), coroutine.isyieldable(main))
  inner = coroutine.create(function()
    out(coroutine.status(outer), coroutine.status(inner), coroutine.status(main))
    out(coroutine.resume(outer))
    out(coroutine.resume(inner))
    out(coroutine.resume(main))
    out(pcall(coroutine.close, outer))
    out(pcall(coroutine.close, inner))
    out(pcall(coroutine.close, main))
    out(coroutine.isyieldable(outer), coroutine.isyieldable(main))
    coroutine.yield()
  end)
  out(coroutine.status(inner), coroutine.isyieldable(inner))
  out(coroutine.resume(inner))
  out(coroutine.status(inner), coroutine.isyieldable(inner))
  coroutine.yield()
  error("fails")
end)
out(coroutine.status(outer))
out(coroutine.resume(outer))
out(coroutine.status(outer), coroutine.status(inner))
out(coroutine.resume(inner), coroutine.status(inner))
out(coroutine.resume(outer))
out(coroutine.status(outer), coroutine.resume(outer))
out(coroutine.close(outer), coroutine.status(outer), coroutine.close(outer))
for _, name in ipairs{"resume", "status", "close", "isyieldable", "wrap", "create"} do
  out(pcall(coroutine[name]))
  out(pcall(coroutine[name], 1))
  out(pcall(coroutine[name], nil))
  out(pcall(coroutine[name], {}))
end
out(pcall(coroutine.resume, main))
local names = {}
for k in pairs(coroutine) do names[#names + 1] = k end
table.sort(names)
out(table.concat(names, " "))
local fresh = coroutine.create(out)
out(coroutine.isyieldable(fresh), coroutine.status(fresh), coroutine.close(fresh),
    coroutine.status(fresh), coroutine.resume(fresh))
)lua"},
    {"errors through wrap and resume", R"lua(
local function boom() error("boom") end
local function raise(v) return function() error(v) end end
out(pcall(coroutine.wrap(boom)))
out(pcall(coroutine.wrap(raise("level zero", 0))))
out(pcall(coroutine.wrap(function() local x = nil + 1 end)))
out(pcall(coroutine.wrap(raise(setmetatable({}, {__tostring = function() return "object" end})))))
out(pcall(coroutine.wrap(raise(nil))))
out(pcall(coroutine.wrap(raise(12))))
out(pcall(coroutine.wrap(raise(12.5))))
out(pcall(coroutine.wrap(function() coroutine.wrap(function() coroutine.wrap(boom)() end)() end)))
local f = coroutine.wrap(function() coroutine.yield(1) error("second") end)
out(f())
out(pcall(f))
out(pcall(f))
out(select(2, pcall(function()
  f()
end)))
local done = coroutine.wrap(function() end)
done()
out(pcall(function() done() end))
local again
again = coroutine.wrap(function() again() end)
out(pcall(again))
out(coroutine.resume(coroutine.create(boom)))
out(coroutine.resume(coroutine.create(raise({}))) )
out(xpcall(coroutine.wrap(boom), function(m) return "handled: " .. m end))
out(xpcall(coroutine.wrap(boom), debug.traceback))
out(select(2, xpcall(function() coroutine.wrap(boom)() end, function(m)
  return debug.traceback(m, 1) end)))
local co = coroutine.create(function() local function deep(n)
  if n == 0 then coroutine.yield() boom() end deep(n - 1) return end deep(3) end)
coroutine.resume(co)
out(debug.traceback(co))
out(debug.traceback(co, "message", 1))
out(coroutine.resume(co))
out(debug.traceback(co))
out(pcall(coroutine.wrap(function()
  local x <close> = setmetatable({}, {__close = function(_, e) error("closer after " .. tostring(e), 0) end})
  error("first", 0)
end)))
out(pcall(coroutine.wrap(function()
  local x <close> = setmetatable({}, {__close = function(_, e) out("closing", e) end})
  local y <close> = setmetatable({}, {__close = function(_, e) out("closing too", e) end})
  error("kept", 0)
end)))
)lua"},
    {"overflows", R"lua(
local depth = 0
local function nest() depth = depth + 1 return coroutine.wrap(nest)() end
local ok, message = pcall(nest)
out(ok, (message:gsub("script:%d+: ", "")))
depth = 0
local function nest2() depth = depth + 1
  local ok, message = coroutine.resume(coroutine.create(nest2))
  if not ok then error(message, 0) end end
out(pcall(nest2))
local function recursive() return 1 + recursive() end
local ok, message = coroutine.resume(coroutine.create(recursive))
out(ok, message)
out(pcall(recursive))
out(xpcall(recursive, function(m) return #m > 10 end))
out(xpcall(error, function(m) error(m) end, "in the handler"))
local function pnest(n) return pcall(pnest, n + 1) end
out(pcall(pnest, 1))
local s = string.rep("(", 300)
out(load("return " .. s))
local t = setmetatable({}, {})
getmetatable(t).__index = function(t, k) return t[k + 1] end
out(pcall(function() return t[1] end))
local deep = {}
for i = 1, 300 do deep = setmetatable({}, {__index = deep}) end
out(pcall(function() return deep.x end))
)lua"},
    {"pcall and xpcall", R"lua(
out(pcall(nil))
out(pcall(1, 2, 3))
out(pcall(pcall))
out(pcall(pcall, error))
out(pcall(pcall, error, "e"))
out(pcall(error))
out(pcall(error, nil))
out(pcall(error, "m", 0))
out(pcall(error, "m", 2))
out(pcall(function(...) return select("#", ...), ... end, nil, nil))
out(pcall(xpcall))
out(pcall(xpcall, 1))
out(pcall(xpcall, 1, 2))
out(xpcall(1, function(m) return m end))
out(xpcall(function(...) return ... end, out, 1, nil, nil))
out(xpcall(error, function(m, ...) return m, "more", select("#", ...) end, "e"))
out(xpcall(error, error, "e"))
out(xpcall(error, coroutine.yield, "e"))
out(pcall(xpcall, error, nil, "e"))
out(select("#", pcall(table.unpack, {}, 1, 1000)))
local object = setmetatable({}, {__call = function(self, a) error("called " .. a, 0) end})
out(pcall(object, "x"))
local co = coroutine.wrap(function()
  local r = {pcall(function(a)
    local b = coroutine.yield(a + 1)
    local ok, e = pcall(function() coroutine.yield(b .. "!") error({code = 5}) end)
    out(ok, e.code)
    local x <close> = setmetatable({}, {__close = function(_, e)
      out("close", e) coroutine.yield("from close") out("close ends") end})
    error("final", 0)
  end, 41)}
  out(table.unpack(r))
  return xpcall(function() coroutine.yield("in xpcall") local n = nil; n() end,
                function(m) return "H:" .. m end)
end)
out(co()) out(co("b")) out(co()) out(co()) out(co())
out(pcall(string.rep))
out(pcall(string.rep, "x", -1))
out(pcall(setmetatable, 1))
out(pcall(assert, false, {}) == false, pcall(assert, nil, "text"))
out(pcall(assert))
out(pcall(next, {}, "no key"))
out(tostring(pcall):match("^builtin") or tostring(pcall):match("^function"))
)lua"},
    {"generators and pipelines", R"lua(
local function generate(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local function filter(p, g) return coroutine.wrap(function()
  for x in g do if p(x) then coroutine.yield(x) end end end) end
local function sieve(n)
  local g, primes = coroutine.wrap(function() for i = 2, n do coroutine.yield(i) end end), {}
  while true do
    local p = g()
    if not p then return primes end
    primes[#primes + 1] = p
    g = filter(function(x) return x % p ~= 0 end, g)
  end
end
out(table.concat(sieve(300), " "))
for v in generate(3) do for w in generate(v) do out(v, w) end end
local function permute(a, n) if n <= 1 then coroutine.yield(table.concat(a)) else
  for i = 1, n do a[n], a[i] = a[i], a[n] permute(a, n - 1) a[n], a[i] = a[i], a[n] end end end
local all = {}
for p in coroutine.wrap(function() permute({"a", "b", "c", "d"}, 4) end) do all[#all + 1] = p end
out(#all, table.concat(all, ","))
local function tree(n) return n > 0 and {tree(n - 1), n, tree(n - 1)} or nil end
local function walk(t) if t then walk(t[1]) coroutine.yield(t[2]) walk(t[3]) end end
local seen = {}
for v in coroutine.wrap(function() walk(tree(6)) end) do seen[#seen + 1] = v end
out(table.concat(seen))
for i, v in (function() local co = coroutine.create(function() for i = 1, 3 do coroutine.yield(i, i * i) end end)
  return function() local ok, a, b = coroutine.resume(co) return a, b end end)() do out(i, v) end
for i = 1, 4 do
  for j = 1, 4 do if j == 3 then goto continue end
    if coroutine.wrap(function() return i == j end)() then goto done end
    ::continue:: end
  ::done::
end
for _ in pairs(setmetatable({}, {__pairs = function() return generate(2) end})) do out("pair", _) end
)lua"},
    {"places in which Lua cannot yield", R"lua(
local function in_coroutine(f) return coroutine.resume(coroutine.create(f)) end
local yield = coroutine.yield
out(in_coroutine(function() table.sort({3, 2, 1}, function(a, b) yield() return a < b end) end))
out(in_coroutine(function() return ("abc"):gsub(".", function(c) yield(c) end) end))
out(in_coroutine(function() return tostring(setmetatable({}, {__tostring = yield})) end))
out(in_coroutine(function() return load(yield) end))
out(in_coroutine(function() return xpcall(error, yield) end))
out(in_coroutine(function() table.sort({3, 2, 1}, function(a, b)
  out(coroutine.isyieldable()) return a < b end) end))
out(pcall(table.sort, {3, 2, 1}, function() yield() end))
out(in_coroutine(function() return setmetatable({}, {__index = yield}).key end))
out(in_coroutine(function() return #setmetatable({}, {__len = yield}) end))
out(in_coroutine(function() return table.concat(setmetatable({}, {__len = yield})) end))
out(in_coroutine(function() return -setmetatable({}, {__unm = function() return yield("unm") end}) end))
out(in_coroutine(function() for x in yield do end end))
out(in_coroutine(function() local g = coroutine.wrap(function() yield(1) yield(2) end)
  table.sort({3, 2, 1}, function(a, b) g = coroutine.wrap(function() yield(1) end) g() return a < b end)
  return ("ab"):gsub(".", function(c) return coroutine.wrap(function() yield(c .. c) end)() end) end))
out(in_coroutine(function() dofile("/nonexistent") end))
)lua"},
    {"closing", R"lua(
local function closable(name, f) return setmetatable({}, {__close = function(_, e)
  out("close", name, e) if f then f(e) end end}) end
local co = coroutine.create(function()
  local a <close> = closable("a")
  local b <close> = closable("b", function() out(coroutine.running() ~= nil, coroutine.isyieldable()) end)
  coroutine.yield(1)
end)
out(coroutine.resume(co))
out(coroutine.close(co), coroutine.status(co), coroutine.close(co))
out(coroutine.resume(co))
co = coroutine.create(function()
  local a <close> = closable("a", function() error("from a", 0) end)
  local b <close> = closable("b", function() error({}) end)
  coroutine.yield()
end)
coroutine.resume(co)
out(coroutine.close(co))
out(coroutine.status(co), coroutine.close(co))
co = coroutine.create(function()
  local a <close> = closable("yields", function() coroutine.yield() end)
  coroutine.yield()
end)
coroutine.resume(co)
out(coroutine.close(co))
co = coroutine.create(function() local a <close> = closable("dead") error("dies", 0) end)
out(coroutine.resume(co))
out(coroutine.close(co))
out(coroutine.close(co))
co = coroutine.create(function() error({}) end)
out(coroutine.resume(co) == false, select("#", coroutine.close(co)))
local function scoped()
  local x <close> = closable("x")
  for i = 1, 2 do local y <close> = closable("y" .. i) if i == 2 then return i, "r" end end
end
out(scoped())
co = coroutine.wrap(function() local x <close> = closable("w", function() coroutine.yield("yielded") end) return 5 end)
out(co()) out(co()) out(pcall(co))
co = coroutine.create(function() local x <close> = closable("self", function()
  out(pcall(coroutine.close, co)) out(coroutine.status(co)) out(coroutine.resume(co)) end) coroutine.yield() end)
coroutine.resume(co)
out(coroutine.close(co))
for k, v in (function() local done return function() if not done then done = true return 1 end end,
  nil, nil, closable("for") end)() do out(k) end
)lua"},
    {"metamethods that yield", R"lua(
local yield, names = coroutine.yield, {"add", "sub", "mul", "div", "mod", "pow", "idiv", "band", "bor",
  "bxor", "shl", "shr", "concat", "eq", "lt", "le"}
local mt = {}
for _, name in ipairs(names) do mt["__" .. name] = function() return yield(name) end end
mt.__unm = function() return yield("unm") end
mt.__len = function() return yield("len") end
mt.__bnot = function() return yield("bnot") end
mt.__index = function(_, k) return yield("index " .. tostring(k)) end
mt.__newindex = function(_, k, v) yield("newindex " .. k .. v) end
mt.__call = function(_, ...) return yield("call", ...) end
mt.__close = function() yield("close") end
local function new() return setmetatable({}, mt) end
local co = coroutine.create(function()
  local a, b = new(), new()
  local r = {a + b, a - b, a * b, a / b, a % b, a ^ b, a // b, a & b, a | b, a ~ b, a << b, a >> b,
    a .. b, "x" .. a, a == b, a ~= b, a < b, a <= b, a > b, -a, #a, ~a, a.x, a[1], a(1, 2)}
  a.y = "v"
  do local c <close> = new() end
  for i = 1, #r do r[i] = tostring(r[i]) end
  if a < b then out("less") else out("not less") end
  return table.concat(r, " "), ("s" .. a .. "t" .. b)
end)
local n = 0
while coroutine.status(co) ~= "dead" do n = n + 1 out(coroutine.resume(co, n)) end
)lua"},
    {"libraries", R"lua(
local function keys(t) local r = {} for k in pairs(t) do r[#r + 1] = tostring(k) end
  table.sort(r) return table.concat(r, " ") end
out(keys(_G)) out(keys(package.loaded)) out(keys(io)) out(keys(os)) out(keys(debug)) out(keys(package))
out(_VERSION, _G._G == _G, package.loaded._G == _G, package.loaded.coroutine == coroutine)
out(debug.getinfo(pcall, "S").what, debug.getinfo(coroutine.resume, "u").nparams)
local function trace(f, ...) return (select(2, xpcall(f, debug.traceback, ...))) end
out(trace(function() require("no.such.module") end))
out(trace(function() coroutine.resume(1) end))
out(trace(function() io.write({}) end))
out(trace(function() print(setmetatable({}, {__tostring = function() return {} end})) end))
out(trace(function() pcall() end))
local r = {} for i = 1, 3 do r[i] = math.type(i) end out(table.concat(r))
warn("@on") warn("@off") warn("not shown")
out(pcall(warn)) out(pcall(warn, 1, {}))
out(collectgarbage("count") > 0, collectgarbage("isrunning"), collectgarbage("step"))
debug.sethook(function() out("hook") debug.sethook() end, "l")
local x = 1
out(debug.gethook())
)lua"},
};

}  // namespace shoal::core
