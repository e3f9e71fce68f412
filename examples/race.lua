-- SPDX-License-Identifier: MIT
-- A bug that shows only when two processes come between each other, and how the simulator finds it.
--
-- usage: shoal race.lua                 most times, all is well
--        shoal --sim=1..500 race.lua    finds an order in which it is not, and how to see it again
--        shoal race.lua fixed           the same with `incr`, for which there is no such order
local shoal = require("shoal")

local mode = arg[1] or "broken"
if mode ~= "broken" and mode ~= "fixed" then
  io.stderr:write("usage: race.lua [fixed]\n")
  os.exit(2)
end

local account = shoal.channel()
account:set("balance", 100)

-- Between get and set, another process may set the balance: what it has paid in is lost.
local function pay_in(amount)
  if mode == "fixed" then
    account:incr("balance", amount)
  else
    account:set("balance", account:get("balance") + amount)
  end
end

local customers = { shoal.spawn(pay_in, 10), shoal.spawn(pay_in, 20) }
for _, customer in ipairs(customers) do
  customer:result()
end
local balance = account:get("balance")
print("the balance is " .. balance)
assert(balance == 130, "somebody's money is lost")
