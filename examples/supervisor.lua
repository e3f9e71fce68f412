-- SPDX-License-Identifier: MIT
-- A supervisor starts its children again when they fail, and gives up when that happens too often.
--
-- The cook burns every third dish. The waiter never fails; when the supervisor ends, it is ended in
-- good order.
--
-- usage: shoal supervisor.lua
local shoal = require("shoal")
local supervisor = require("shoal.supervisor")

if arg[1] then
  io.stderr:write("usage: supervisor.lua, without arguments\n")
  os.exit(2)
end

local counter = shoal.channel()

-- The children get the channel as an argument: each runs in a process of its own.
local function cook(dishes)
  for i = 1, math.huge do
    dishes:receive("order")
    if i % 3 == 0 then
      error("burnt", 0)
    end
    dishes:send("served", "dish " .. i)
  end
end

local function waiter(dishes)
  local _ <close> = setmetatable({}, {
    __close = function()
      print("the waiter goes home")
    end,
  })
  while true do
    print(dishes:receive("served"))
    dishes:send("eaten", true)
  end
end

local kitchen = supervisor.start({
  name = "kitchen",
  strategy = "one_for_one",
  max_restarts = 2, -- within so many seconds:
  within = 60,
  children = {
    { name = "waiter", start = waiter, args = { counter } },
    { name = "cook", start = cook, args = { counter }, restart = "transient", shutdown = 1 },
  },
})

-- Two orders are served; at the third, the cook fails, and there is a new one.
local function dine()
  for _ = 1, 2 do
    counter:send("order", true)
    counter:receive("eaten")
  end
  counter:send("order", true)
end

dine()
dine()
for _, child in ipairs(kitchen:which_children()) do
  print(child.name, child.process and "is there" or "is gone")
end

-- The third failure is one too many: the supervisor stops the waiter, and fails itself.
dine()
local ok, problem = kitchen:join()
print(ok, problem)
