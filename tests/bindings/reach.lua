-- SPDX-License-Identifier: MIT
-- libs and channels: what a process that was given a list of libraries can reach.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

-- With a list of libraries, only the channels in the list can be opened by name.
do
  shoal.channel("open to it"):send("k", "here")
  local _ <const> = shoal.channel("not open to it")
  local p = shoal.spawn({ libs = { "shoal" }, channels = { "open to it", "other" } }, function()
    local s = require("shoal")
    local found = s.channel("open to it"):receive("k", 0)
    local ok, err = pcall(s.channel, "not open to it")
    local ok2 = pcall(s.channel, { name = "not open to it", limit = 3 })
    -- One without a name it may always make.
    local own = s.channel()
    own:send("k", 1)
    return found, ok, err, ok2, own:receive("k"), s.channel("other").name
  end)
  local found, ok, err, ok2, own, other = p:result()
  assert(found == "here" and not ok and not ok2 and own == 1 and other == "other")
  assert(err:find("may not open the channel 'not open to it'", 1, true), err)
end

-- Without the list of channels: none. Without one of libraries: all, or those in the list.
do
  local function try()
    return (pcall(require("shoal").channel, "x"))
  end
  assert(shoal.spawn({ libs = { "shoal" } }, try):result() == false)
  assert(shoal.spawn({ libs = "*" }, try):result() == true)
  assert(shoal.spawn({ channels = {} }, try):result() == false)
  assert(shoal.spawn({ channels = { "x" } }, try):result() == true)
  assert(shoal.spawn(try):result() == true)
end

-- A handle that is sent can be used, whatever its name.
do
  local named = shoal.channel("sent to it")
  local p = shoal.spawn({ libs = { "shoal" } }, function(ch)
    ch:send("k", 1)
    return ch.name
  end, named)
  assert(p:result() == "sent to it" and named:receive("k", 0) == 1)
end

-- Descendants have no channel that their creator lacks.
do
  local p = shoal.spawn({ libs = { "shoal" }, channels = { "a", "b" } }, function()
    local s = require("shoal")
    local function opens()
      local list = {}
      for i, name in ipairs({ "a", "b", "c" }) do
        list[i] = (pcall(require("shoal").channel, name))
      end
      return list
    end
    local ok, err = pcall(s.spawn, { channels = { "a", "c" } }, "")
    return ok,
      err,
      s.spawn(opens):result(),
      s.spawn({ channels = { "b" } }, opens):result(),
      s.spawn({ libs = { "shoal" } }, opens):result(),
      s.spawn({ libs = "*" }, opens):result()
  end)
  local ok, err, inherited, fewer, none, star = p:result()
  assert(not ok and err:find("option 'channels': this process itself may not open 'c'", 1, true))
  expect(pack(inherited), { true, true, false })
  expect(pack(fewer), { false, true, false })
  expect(pack(none), { false, false, false })
  expect(pack(star), { true, true, false })
end

-- It sees itself and its descendants, of any depth, and no others.
do
  local ready, go = shoal.channel(), shoal.channel()
  local stranger = shoal.spawn({ name = "same" }, function()
    go:receive("stranger")
  end)
  local p = shoal.spawn({ libs = { "shoal" }, name = "confined" }, function(id)
    local s = require("shoal")
    local function names(list)
      local found = {}
      for i, process in ipairs(list) do
        found[i] = process.name
      end
      return found
    end
    local child = s.spawn({ name = "child" }, function()
      local shoal_of_child = require("shoal")
      shoal_of_child.spawn({ name = "same" }, function()
        ready:send("k", names(require("shoal").processes()))
        go:receive("grandchild")
      end)
      ready:send("k", names(shoal_of_child.processes()))
      go:receive("child")
    end)
    local seen = { ready:receive("k"), (ready:receive("k")) }
    local own = names(s.processes())
    local by_name = s.process("same")
    local result = {
      own = own,
      one = #seen[1],
      other = #seen[2],
      stranger = s.process(id) == nil,
      script = s.process(1) == nil,
      by_id = s.process(by_name.id) == by_name,
      is_stranger = by_name.id == id,
      child = s.process("child") == child,
      itself = s.process("confined") == s.self(),
    }
    go:send("child", 1)
    child:join()
    -- The link in between has gone.
    result.grandchild = s.process("same") == by_name
    go:send("grandchild", 1)
    by_name:join()
    result.gone = s.process("same") == nil
    return result
  end, stranger.id)
  local result = p:result()
  expect(pack(result.own), { "confined", "child", "same" })
  -- The child sees itself and perhaps already its own child, the grandchild itself alone.
  assert(result.one + result.other <= 3 and math.min(result.one, result.other) == 1)
  assert(result.stranger and result.script and not result.is_stranger)
  assert(result.by_id and result.child and result.itself and result.grandchild and result.gone)
  go:send("stranger", 1)
  stranger:join()
end

-- All others see all.
do
  local go = shoal.channel()
  local p = shoal.spawn({ libs = { "shoal" }, name = "seen" }, function()
    require("shoal").spawn({ name = "seen too" }, function()
      go:receive("k")
    end)
    go:receive("k")
  end)
  while not shoal.process("seen too") do
    shoal.yield()
  end
  assert(shoal.process("seen") == p)
  local script = shoal.self().id
  local other = shoal.spawn(function()
    local s = require("shoal")
    return s.process("seen") ~= nil and s.process("seen too") ~= nil and s.process(script).id
  end)
  assert(other:result() == support.script_id)
  go:send("k", 1)
  go:send("k", 1)
end

-- The base functions are always there.
do
  local base = "assert collectgarbage dofile error getmetatable ipairs load loadfile next pairs "
    .. "pcall print rawequal rawget rawlen rawset select setmetatable tonumber tostring type warn "
    .. "xpcall"
  local names = {}
  for name in base:gmatch("%a+") do
    names[#names + 1] = name
  end
  local q = shoal.spawn({ libs = {} }, function()
    local missing = {}
    for _, name in ipairs(names) do
      if type(_G[name]) ~= "function" then
        missing[#missing + 1] = name
      end
    end
    return missing, _VERSION, _G == _ENV, require
  end)
  expect(pack(q:join()), true, {}, "Lua 5.4", true, nil)
end
