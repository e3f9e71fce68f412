-- SPDX-License-Identifier: MIT
-- Linked processes: an error in either ends the other.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local ch = shoal.channel()

-- An error of the child ends the parent, wherever it waits and whatever it catches.
do
  local parent = shoal.spawn({ name = "parent" }, function()
    shoal.spawn({ name = "worker", link = true }, function()
      ch:receive("fail")
      error("boom")
    end)
    local _ <close> = setmetatable({}, {
      __close = function()
        ch:set("cleaned", true)
      end,
    })
    ch:send("fail", true)
    while true do
      pcall(ch.receive, ch, "never")
    end
  end)
  local ok, err, traceback = parent:join()
  assert(not ok and parent:status() == "error")
  assert(err:find("^linked process %d+ %(worker%) failed: .*link.lua:%d+: boom$"), err)
  assert(traceback:find("in function 'error'", 1, true), traceback)
  assert(ch:receive("cleaned", 0))
  local raised = expect_error("boom\nstack traceback:", parent.result, parent)
  assert(raised:find("linked process", 1, true))
end

-- An error of the parent ends the child.
do
  local parent = shoal.spawn(function()
    ch:send(
      "child",
      shoal.spawn({ link = true }, function()
        ch:receive("never")
      end)
    )
    error({ "no string" })
  end)
  local child = ch:receive("child")
  expect(pack(parent:join()), nil, { "no string" }, select(3, parent:join()))
  local ok, err = child:join()
  assert(not ok and child:status() == "error")
  assert(
    err == ("linked process %d failed: (error object is a table value)"):format(parent.id),
    err
  )
end

-- A normal end of either unties them.
do
  local parent = shoal.spawn(function()
    shoal.spawn({ link = true }, function() end):join()
    local child = shoal.spawn({ link = true }, function()
      ch:receive("go")
      error("later")
    end)
    return child
  end)
  local _, child = parent:join()
  assert(parent:status() == "done")
  ch:send("go", 1)
  expect_error("later", child.result, child)
  assert(parent:status() == "done")
end

-- The cancel of one cancels the other.
do
  for _, which in ipairs({ "parent", "child" }) do
    local parent = shoal.spawn(function()
      ch:send(
        "child",
        shoal.spawn({ link = true }, function()
          ch:receive("never")
        end)
      )
      ch:receive("never")
    end)
    local both = { parent = parent, child = ch:receive("child") }
    both[which]:cancel()
    for _, p in pairs(both) do
      expect(pack(p:join()), nil, shoal.cancelled)
    end
  end
end

-- Without the option nothing happens; a wrong one is an error.
do
  local p = shoal.spawn({ link = false }, error, "alone")
  p:join()
  expect_error("option 'link': a boolean expected, got string", shoal.spawn, { link = "x" }, print)
end

-- A chain: the failure goes to both of its ends, and each says where it came from.
do
  local length = support.scaled(1000, 20)
  local function grow(left)
    ch:send("grown", shoal.self())
    if left == 0 then
      ch:receive("fail")
      error("at the end", 0)
    end
    shoal.spawn({ link = true }, grow, left - 1)
    ch:receive("never")
  end
  for _, fails in ipairs({ "last", "middle" }) do
    local all = {}
    all[1] = shoal.spawn(grow, length - 1)
    for i = 1, length do
      all[i] = ch:receive("grown", 60)
    end
    if fails == "last" then
      ch:send("fail", true)
    else
      all[length // 2]:cancel()
    end
    for i = 1, length do
      local ok, err = all[i]:join()
      assert(not ok)
      if fails == "middle" then
        assert(err == shoal.cancelled, err)
      elseif i < length then
        local text = ("linked process %d failed: at the end"):format(all[length].id)
        assert(err == text, err)
      end
    end
  end
end

-- What is reported: each failure once, by whom it belongs to; nothing if one of the linked is
-- joined.
do
  local child = "process " .. support.script_id + 2
  local function run(body)
    return support.run("local shoal = require('shoal') " .. body)
  end
  local status, _, err = run([[
    shoal.spawn({name = "parent"}, function()
      shoal.spawn({name = "child", link = true}, function() error("boom", 0) end)
      shoal.spawn({link = true}, function() shoal.channel():receive(1) end)
      shoal.channel():receive(1)
    end)
    shoal.wait()
  ]])
  assert(status == support.unjoined and select(2, err:gsub("boom", "")) == 1, err)
  assert(err:find(child .. " (child): boom", 1, true), err)
  -- Also if the other end of the link is first to end: this one has many more to tell.
  status, _, err = run(([[
    shoal.spawn({name = "parent"}, function()
      shoal.spawn({name = "child", link = true}, function()
        for _ = 1, %d do
          shoal.spawn({link = true}, function() shoal.channel():receive(1) end)
        end
        error("boom", 0)
      end)
      shoal.channel():receive(1)
    end)
    shoal.wait()
  ]]):format(support.scaled(2000, 200)))
  assert(status == support.unjoined and select(2, err:gsub("boom", "")) == 1, err)
  assert(err:find(child .. " (child): boom", 1, true), err)
  status, _, err = run([[
    local p = shoal.spawn(function()
      shoal.spawn({link = true}, function() error("boom", 0) end)
      shoal.spawn({link = true}, function() shoal.channel():receive(1) end)
      shoal.channel():receive(1)
    end)
    assert(not p:join())
    shoal.sleep(0.2)
  ]])
  assert(status == 0 and err == "", err)
end

-- The script ends by it, and says so; a host goes on, as after each error that it catches.
if not support.host then
  local function run(body)
    return support.run("local shoal = require('shoal') " .. body)
  end
  local status, _, err = run([[
    shoal.spawn({name = "child", link = true}, function() error("boom", 0) end)
    shoal.channel():receive(1)
  ]])
  assert(status == 1 and select(2, err:gsub("boom", "")) == 1, err)
  assert(err:find("^shoal: linked process 2 %(child%) failed: boom\nstack traceback"), err)
  status, _, err = run([[
    shoal.spawn({link = true}, function() shoal.sleep(60) end)
    shoal.yield()
    error("boom", 0)
  ]])
  assert(status == 1 and select(2, err:gsub("boom", "")) == 1, err)
end

-- A script that is cut short by a cancel has not succeeded.
if not support.host then
  local status, out, err = support.run([[
    local shoal = require("shoal")
    shoal.spawn({ link = true }, function() shoal.self():cancel() shoal.sleep(60) end)
    shoal.sleep(60)
    print("not reached")
  ]])
  assert(status == 1 and out == "" and err == "", err)
end

-- A process that links many short ones stays as small as it is, and so do those it is linked to.
do
  local p = shoal.spawn(function()
    for _ = 1, support.scaled(3000) do
      shoal.spawn({ link = true }, function() end):join()
    end
    return "fine"
  end)
  assert(p:result() == "fine")
end

-- Both ends fail at the same time.
do
  for _ = 1, support.scaled(500, 20) do
    local parent = shoal.spawn(function()
      ch:send("child", shoal.spawn({ link = true }, error, "child"))
      error("parent")
    end)
    local _, parent_error = parent:join()
    assert(parent_error:find("parent", 1, true) or parent_error:find("child", 1, true))
    -- The child may have ended the parent before it could send.
    local child = ch:receive("child", 0)
    if child then
      local _, child_error = child:join()
      assert(child_error:find("parent", 1, true) or child_error:find("child", 1, true))
    end
  end
end
