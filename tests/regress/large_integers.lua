-- SPDX-License-Identifier: MIT
-- luaproc: integers above 2^53 arrive changed. Here all arrive exact, and floats stay floats.
local shoal = require("shoal")

local ch = shoal.channel()
for _, n in ipairs({ (1 << 53) + 1, -(1 << 53) - 1, math.maxinteger, math.mininteger, 1 << 62 }) do
  ch:send("k", n, { n, [n] = n })
  local got, list = ch:receive("k")
  assert(math.type(got) == "integer" and got == n and list[1] == n and list[n] == n)
  assert(shoal.spawn("return ...", n):result() == n)
  ch:set("counter", n)
  assert(ch:incr("counter", -1) == n - 1 and ch:receive("counter") == n - 1)
  ch:send(n, "by key")
  assert(ch:receive(n, 0) == "by key")
end
for _, x in ipairs({ 2 ^ 53, 1.0, -0.0, 1e300 }) do
  ch:send("k", x)
  local got = ch:receive("k")
  assert(math.type(got) == "float" and got == x and 1 / got == 1 / x)
end
