-- SPDX-License-Identifier: MIT
-- luaproc: a process runs in the state of one before it, and sees its globals. Here each starts
-- clean.
-- luacheck: globals left_behind string
local shoal = require("shoal")
local support = require("support")

local last_seed
for i = 1, support.scaled(100) do
  local p = shoal.spawn(function(n)
    assert(left_behind == nil, "a global of another process")
    assert(package.loaded.left_behind == nil and package.preload.left_behind == nil)
    assert(string.left_behind == nil and getmetatable("").left_behind == nil)
    assert(debug.getregistry().left_behind == nil and debug.gethook() == nil)
    assert(getmetatable(_G) == nil and getmetatable(print) == nil and getmetatable(nil) == nil)
    assert(collectgarbage("count") < 200 and collectgarbage("isrunning"))
    local path, seed = package.path, math.random(1 << 60)

    left_behind = n
    package.loaded.left_behind, package.preload.left_behind = true, print
    string.left_behind, getmetatable("").left_behind = true, true
    debug.getregistry().left_behind = true
    setmetatable(_G, { __index = error })
    debug.setmetatable(print, { __index = print })
    debug.setmetatable(nil, { __index = print })
    debug.sethook(function() end, "l")
    collectgarbage("stop")
    package.path = "left behind"
    if n % 3 == 0 then
      error("and it fails")
    end
    return path, seed
  end, i)
  local ok, path, seed = p:join()
  if i % 3 == 0 then
    assert(ok == nil and path:find("and it fails", 1, true), path)
  else
    assert(ok == true and path == package.path, path)
    assert(seed ~= last_seed, "the random numbers of another process")
    last_seed = seed
  end
end
