-- SPDX-License-Identifier: MIT
-- needs: the program
-- Buffers count for the memory of those who have them, and for messages.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

local MEGABYTE = 1 << 20

-- memory_limit counts a buffer, its garbage is collected before it raises, and a slice is free.
do
  local p = shoal.spawn({ memory_limit = "3M" }, function()
    local s = require("shoal")
    local text = ("x"):rep(1 << 19)
    for _ = 1, 50 do
      assert(#s.buffer({ text, text }) == 1 << 20)
    end
    local kept = s.buffer({ text, text })
    local slices = {}
    for i = 1, 100 do
      slices[i] = kept:sub(i)
    end
    local ok, err = pcall(s.buffer, { text, text, text, text })
    return ok, err, #slices, s.self():stats().memory > 1 << 20
  end)
  expect(pack(p:join()), true, false, "not enough memory", 100, true)
end

-- A list that is larger than any memory is refused before anything is read.
do
  local b = shoal.buffer(("x"):rep(MEGABYTE))
  local list = {}
  for i = 1, 100 do
    list[i] = b
  end
  local p = shoal.spawn({ memory_limit = "4M" }, function(parts)
    return pcall(require("shoal").buffer, parts)
  end, list)
  expect(pack(p:join()), true, false, "not enough memory")
end

-- What is received counts, too: a message for which there is no room goes back.
do
  local ch = shoal.channel()
  ch:send("k", shoal.buffer(("x"):rep(2 * MEGABYTE)))
  local p = shoal.spawn({ memory_limit = "1M" }, function(channel)
    return pcall(channel.receive, channel, "k")
  end, ch)
  expect(pack(p:join()), true, false, "not enough memory")
  assert(ch:count("k") == 1)
  local q = shoal.spawn({ memory_limit = "3M" }, function(channel)
    return #channel:receive("k")
  end, ch)
  expect(pack(q:join()), true, 2 * MEGABYTE)
end

-- The memory of one that has been dropped counts again; of one that has ended there is none.
do
  local p = shoal.spawn({ memory_limit = "4M" }, function()
    local s = require("shoal")
    local kept = {}
    local before = s.self():stats().memory
    kept[1] = s.buffer(("x"):rep(1 << 20))
    collectgarbage()
    local with = s.self():stats().memory
    assert(with - before >= 1 << 20 and with - before < 1.5 * (1 << 20), with - before)
    assert(#kept[1] == 1 << 20)
    kept[1] = nil
    collectgarbage()
    collectgarbage()
    assert(s.self():stats().memory - before < 1 << 19)
    return s.buffer("kept till the end")
  end)
  assert(p:result():string() == "kept till the end")
  assert(p:stats().memory == 0)
end

-- message_limit bounds what is referred to.
do
  local p = shoal.spawn({ message_limit = 1000 }, function()
    local s = require("shoal")
    local ch = s.channel()
    local b = s.buffer(("x"):rep(2000))
    ch:send("k", b:sub(1, 900))
    local ok, err = pcall(ch.send, ch, "k", b)
    assert(not ok and err:find("message larger than the limit of 1000 bytes", 1, true), err)
    local two, why = pcall(ch.send, ch, "k", 1, { b:sub(1, 600), b:sub(1, 600) })
    assert(not two and why:find("(at [2][2])", 1, true), why)
    return ch:count("k")
  end)
  expect(pack(p:join()), true, 1)
end

-- Garbage is collected for its buffers, though their handles are small, in both modes of the
-- collector.
for _, mode in ipairs({ "incremental", "generational" }) do
  local p = shoal.spawn(function(how)
    collectgarbage(how)
    local s = require("shoal")
    local text = ("x"):rep(1 << 20)
    local most = 0
    for _ = 1, 150 do
      local b = s.buffer(text)
      most = math.max(most, s.self():stats().memory)
      assert(#b == 1 << 20)
    end
    return most
  end, mode)
  local most = p:result()
  assert(most < 45 * MEGABYTE, ("%s: %d"):format(mode, most))
end

-- It is not for those who have stopped the collector.
do
  local p = shoal.spawn(function()
    collectgarbage("stop")
    local s = require("shoal")
    local text = ("x"):rep(1 << 20)
    for _ = 1, 40 do
      s.buffer(text)
    end
    return s.self():stats().memory
  end)
  assert(p:result() > 40 * MEGABYTE)
end

-- A list that a finalizer changes while it is read makes no buffer of wrong bytes.
do
  local p = shoal.spawn(function()
    local s = require("shoal")
    local text = ("x"):rep(8 << 20)
    local refused = 0
    for _ = 1, 8 do
      local list = { text, "short" }
      setmetatable({}, {
        __gc = function()
          list[2] = "much longer than it was"
        end,
      })
      local ok, b = pcall(s.buffer, list)
      if ok then
        assert(b:string(-5) == "short" or #b == #text + 23)
      else
        assert(b:find("has changed", 1, true), b)
        refused = refused + 1
      end
    end
    return refused
  end)
  assert(p:result() >= 0)
end

-- Many processes with slices of one buffer.
do
  local b = shoal.buffer(("0123456789"):rep(100000))
  local processes = {}
  for i = 1, support.scaled(200, 10) do
    processes[i] = shoal.spawn(function(slice, n)
      for _ = 1, 20 do
        assert(slice:byte(n % #slice + 1) == slice:sub(n % #slice + 1):byte())
      end
      return slice:sub(1, 10)
    end, b:sub(i), i)
  end
  for i, p in ipairs(processes) do
    assert(p:result() == b:sub(i, i + 9))
  end
end
