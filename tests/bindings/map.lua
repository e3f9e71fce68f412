-- SPDX-License-Identifier: MIT
-- shoal.map: a function for many items, in several processes.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error
local scaled = support.scaled

-- Results in the order of the items, with `n`; f gets the index; nil is kept, on both sides.
do
  local results = shoal.map(function(item, index)
    return item .. index
  end, { "a", "b", "c" })
  assert(support.same(results, { "a1", "b2", "c3", n = 3 }))
  assert(support.same(shoal.map(error, {}), { n = 0 }))
  results = shoal.map(function(item)
    return item and item > 2 and item or nil, "not kept"
  end, { n = 5, 1, nil, 3, nil, nil })
  assert(support.same(results, { n = 5, [3] = 3 }))
  assert(support.others() == 0)
end

-- Iterators end with nil; functions of modules may be mapped; only the first result counts.
do
  local n = scaled(500)
  local i = 0
  local results = shoal.map(math.sqrt, function()
    i = i + 1
    return i <= n and i * i or nil, "not an item"
  end)
  assert(results.n == n and results[n] == n)
  assert(support.same(shoal.map(string.upper, ("a b c"):gmatch("%a")), { "A", "B", "C", n = 3 }))
  local ch = shoal.channel()
  local source = shoal.task(function()
    for k = 1, 5 do
      ch:send("item", k)
      shoal.sleep(0.001)
    end
    ch:close()
  end)
  results = shoal.map(function(x)
    return -x
  end, ch:each("item"))
  assert(support.same(results, { -1, -2, -3, -4, -5, n = 5 }))
  source:join()
end

-- Upvalues are copied once for each process; the items are spread over them; chunks of any size.
do
  local base = 10
  local n = scaled(200, 8)
  for _, chunk in ipairs({ 1, 3, n, 10 * n }) do
    local loads = {}
    local list = {}
    for i = 1, n do
      list[i] = i
    end
    local results = shoal.map(function(item)
      loads[1] = (loads[1] or 0) + 1
      return { item + base, loads[1] }
    end, list, { chunk = chunk, size = 2 })
    local calls = 0
    for i = 1, n do
      assert(results[i][1] == i + base)
      calls = math.max(calls, results[i][2])
    end
    assert(calls >= n / 2 and #loads == 0)
  end
end

-- Many small items are few messages; the progress is in order and complete.
do
  local n = scaled(100000, 2000)
  local list, seen, calls = {}, 0, 0
  for i = 1, n do
    list[i] = i
  end
  local results = shoal.map(
    function(x)
      return x + 1
    end,
    list,
    {
      size = 2,
      chunk = 500,
      progress = function(done, total)
        assert(done > seen and total == n)
        seen, calls = done, calls + 1
      end,
    }
  )
  assert(results[1] == 2 and results[n] == n + 1 and results.n == n)
  assert(seen == n and calls == (n + 499) // 500)
  -- By itself, too: far fewer messages than items. (How many depends on the time that they take.)
  local sent = shoal.self():stats().received
  shoal.map(function(x)
    return x
  end, list)
  assert(support.scale < 1 or shoal.self():stats().received - sent < n / 20)
  -- Of an iterator nobody knows the total.
  local totals = {}
  shoal.map(
    function(x)
      return x
    end,
    ("a b c"):gmatch("%a"),
    {
      progress = function(done, total)
        totals[#totals + 1] = done .. tostring(total)
      end,
      chunk = 1,
    }
  )
  assert(table.concat(totals, " ") == "1nil 2nil 3nil")
end

-- The first error by index is raised, whichever comes first; values that are no strings as they
-- are. The rest is cancelled, and nothing runs any more.
do
  local ch = shoal.channel()
  local text = expect_error("item 2: ", shoal.map, function(item)
    if item == 2 then
      ch:receive("the fourth has failed")
      error("the second")
    elseif item == 4 then
      ch:send("the fourth has failed", true)
      error("the fourth")
    end
  end, { 1, 2, 3, 4, 5, 6 }, { size = 4, chunk = 1 })
  assert(text:find("the second", 1, true) and text:find("stack traceback:", 1, true), text)
  assert(text:find("^item 2: "))
  local ok, err = pcall(shoal.map, function(item)
    error({ item })
  end, { 7 })
  assert(not ok and err[1] == 7)
  expect_error("item 3: late", shoal.map, function(item)
    if item == 3 then
      ch:receive("the fourth runs")
      error("late", 0)
    elseif item == 4 then
      local _ <close> = support.closing(function()
        ch:send("cancelled", item)
      end)
      ch:send("the fourth runs", true)
      ch:receive("never")
    end
  end, { 1, 2, 3, 4 }, { size = 4, chunk = 1 })
  assert(ch:receive("cancelled", 0) == 4)
  assert(support.others() == 0)
  -- In a chunk of many.
  expect_error("item 17: here", shoal.map, function(item)
    if item >= 17 then
      error("here", 0)
    end
  end, function()
    ch:incr("n")
    local n = ch:get("n")
    return n <= 40 and n or nil
  end, { chunk = 40 })
end

-- What cannot travel is told by its item.
do
  expect_error("item 3: cannot send a coroutine (at result)", shoal.map, function(item)
    return item == 3 and coroutine.create(print) or item
  end, { 1, 2, 3, 4 }, { chunk = 4 })
  expect_error("item 2: cannot send a coroutine (at item.x)", shoal.map, function() end, {
    1,
    { x = coroutine.create(print) },
  }, { chunk = 2 })
  local file <close> = assert(io.open("/dev/null"))
  expect_error(
    "bad argument #1 to 'map' (cannot send a userdata 'FILE*' (at f(upvalue file)))",
    shoal.map,
    function()
      return file
    end,
    { 1 }
  )
  -- An error value that cannot travel is told as a text.
  expect_error("item 1: (error object is a thread value)", shoal.map, function()
    error(coroutine.create(print))
  end, { 1 })
  assert(support.others() == 0)
end

-- An iterator or a progress function that raises ends the map; so does a cancel of who waits.
do
  local function forever(item)
    require("shoal").channel():receive(item)
  end
  local i = 0
  expect_error("no more", shoal.map, forever, function()
    i = i + 1
    return i < 3 and i or error("no more")
  end, { chunk = 1, size = 4 })
  expect_error("enough", shoal.map, function() end, { 1, 2, 3 }, {
    progress = function()
      error("enough")
    end,
  })
  local task = shoal.task(shoal.map, forever, { 1, 2, 3 })
  shoal.yield()
  assert(task:cancel(20) and task:status() == "cancelled")
  local busy = shoal.spawn(function()
    require("shoal").map(function()
      while true do
      end
    end, { 1, 2, 3 })
  end)
  support.until_waiting(busy)
  assert(busy:cancel(20) and busy:status() == "cancelled")
  assert(support.others() == 0)
end

-- A process that dies fails its items; if all have, so does the rest.
do
  local function die(item)
    if item == 2 then
      shoal.self():cancel()
      shoal.sleep(60)
    end
    return item
  end
  expect_error("item 2: the process was cancelled", shoal.map, die, { 1, 2, 3 }, { chunk = 1 })
  expect_error("items 1 to 3: the process was", shoal.map, die, { 1, 2, 3 }, { chunk = 3 })
  expect_error("item 2: ", shoal.map, die, { 1, 2, 3, 4, 5, 6 }, { chunk = 1, size = 1 })
  -- (Who calls map has no more time than those that it starts.)
  support.some_time("the limit of an item", function()
    local limited = shoal.spawn({ cpu_limit = 0.05 }, function()
      return require("shoal").map(function()
        while true do
        end
      end, { 1 })
    end)
    local ok, err = limited:join()
    assert(not ok and err:find("cpu limit of 0.05 s reached", 1, true), err)
    return err:find("item 1: cpu limit of 0.05 s reached", 1, true)
  end)
  assert(support.others() == 0)
end

-- A map in a function of a map, in a task, in a coroutine of the user.
do
  local results = shoal.map(function(item)
    local inner = require("shoal").map(function(x)
      return x * 10
    end, { item, item + 1 })
    return inner[1] + inner[2]
  end, { 1, 2, 3 }, { size = 2 })
  assert(support.same(results, { 30, 50, 70, n = 3 }))
  local co = coroutine.wrap(function()
    local sum = 0
    for _, x in
      ipairs(shoal.map(function(x)
        return x
      end, { 1, 2, 3 }))
    do
      sum = sum + x
    end
    coroutine.yield(sum)
  end)
  assert(co() == 6)
  local confined = shoal.spawn({ libs = { "shoal" } }, function()
    local mapped = require("shoal").map(function(x)
      return x + 1
    end, { 1, 2 })
    return mapped[2]
  end)
  expect(pack(confined:join()), true, 3)
end

-- Wrong arguments, at the place of the caller.
do
  local f = function() end
  local where = "map.lua:" .. (debug.getinfo(1, "l").currentline + 2) .. ": "
  local text = expect_error("bad argument #1 to 'map' (a function expected, got number)", function()
    shoal.map(5, {})
  end)
  assert(text:find(where, 1, true), text)
  expect_error("#1 to 'map' (a function expected, got nil)", shoal.map)
  expect_error("#1 to 'map' (a function expected, got string)", shoal.map, "f", {})
  expect_error("#2 to 'map' (a list or an iterator expected, got nil)", shoal.map, f)
  expect_error(
    "#2 to 'map' (a list or an iterator expected, got channel)",
    shoal.map,
    f,
    shoal.channel()
  )
  expect_error("field 'n' of the list is not a non-negative integer", shoal.map, f, { n = -1 })
  expect_error("field 'n' of the list is not a non-negative integer", shoal.map, f, { n = 1.5 })
  expect_error("#3 to 'map' (a table of options expected, got number)", shoal.map, f, {}, 5)
  expect_error("#3 to 'map' (there is no option 'chunks'", shoal.map, f, {}, { chunks = 1 })
  for _, bad in ipairs({ 0, -1, 1.5, "2", {}, math.huge, 0 / 0 }) do
    expect_error("#3 to 'map' (option 'size' is not a positive", shoal.map, f, {}, { size = bad })
    expect_error("#3 to 'map' (option 'chunk' is not a positive", shoal.map, f, {}, { chunk = bad })
  end
  expect_error("option 'progress' is not a function", shoal.map, f, {}, { progress = true })
end
