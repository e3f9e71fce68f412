-- SPDX-License-Identifier: MIT
-- The interpreter unloads C modules when it closes the state: the threads must not be in one then.
local support = require("support")
local command = [[LD_PRELOAD=$SANITIZER_LIBRARY lua5.4 -e '
  local shoal = require("shoal")
  shoal.spawn(function() local shoal = require("shoal") shoal.sleep(0.001) end)
  shoal.spawn({ daemon = true }, function() while true do end end)']]
for i = 1, support.scaled(50) do
  local _, how, status = os.execute(command)
  assert(how == "exit" and status == 0, ("run %d: %s %d"):format(i, how, status))
end
