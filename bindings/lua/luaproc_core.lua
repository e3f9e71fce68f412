-- SPDX-License-Identifier: MIT
-- shoal.luaproc.core: what a process knows of luaproc.
--   directory  a channel that all share: under the name of each channel, the channel; under WORKERS
--              a number of workers
--   parent     `up` and `down` of the process that started this one; nil if luaproc did not
--   up, down   channels of this process: its children send to `up`, and receive from `down`
local shoal = ...

local core = { WORKERS = 1 }

local function rendezvous()
  return shoal.channel({ limit = 0 })
end

-- What a child is given.
function core.setup()
  core.up, core.down = core.up or rendezvous(), core.down or rendezvous()
  return { directory = core.directory, up = core.up, down = core.down }
end

-- In a child, before its body.
function core.enter(setup)
  core.directory, core.parent = setup.directory, setup
end

-- Where a send and a receive without a channel go: to the parent's, without one to its own.
function core.outlet()
  core.setup()
  return core.parent and core.parent.up or core.down
end

function core.inlet()
  core.setup()
  return core.parent and core.parent.down or core.up
end

core.new_channel = rendezvous
core.reschedule = shoal.yield

-- The channel of that name, or nil.
function core.find(name)
  return core.directory:get(name)
end

-- What a child runs: it is sent there. A yield of its body lets others run.
function core.run(setup, body, ...)
  local ours = require("shoal.luaproc.core")
  ours.enter(setup)
  luaproc = require("shoal.luaproc") -- luacheck: ignore
  if coroutine then
    local yield, running = coroutine.yield, coroutine.running
    function coroutine.yield(...) -- luacheck: ignore
      local _, is_body = running()
      if is_body then
        return ours.reschedule()
      end
      return yield(...)
    end
  end
  return body(...)
end

return core
