-- SPDX-License-Identifier: MIT
-- shoal.imap: a map whose results are received as they come, in order.
local shoal = require("shoal")
local support = require("support")
local expect_error, scaled = support.expect_error, support.scaled

local function count_to(n, seen)
  local i = 0
  return function()
    i = i + 1
    if seen then
      seen[1] = i
    end
    return i <= n and i or nil
  end
end

-- Index and result in order, also where later ones are there before; nil is a result.
do
  local n = scaled(300, 5)
  for _, options in ipairs({ {}, { chunk = 1 }, { chunk = 7, size = 3 } }) do
    local expected = 0
    for i, x in
      shoal.imap(function(item, index)
        if item % 5 == 0 then
          require("shoal").sleep(0.0001)
        end
        return item ~= 3 and item + index or nil
      end, count_to(n), options)
    do
      expected = expected + 1
      assert(i == expected and (x == 2 * i or i == 3 and x == nil))
    end
    assert(expected == n)
  end
  for _ in shoal.imap(error, count_to(0)) do
    error("there is none")
  end
  local sum = 0
  for _, x in shoal.imap(math.abs, { -1, -2, -3 }) do
    sum = sum + x
  end
  assert(sum == 6 and support.others() == 0)
end

-- It is not far ahead of who receives.
do
  local seen = { 0 }
  for i in
    shoal.imap(function(x)
      return x
    end, count_to(scaled(200, 40), seen), { chunk = 2, size = 2 })
  do
    -- 2 processes, of 2 calls each, twice, of 2 items; and those in hand.
    assert(seen[1] - i <= 18, seen[1] - i)
  end
end

-- An input without end, which is left: nothing runs any more.
do
  for i, x in
    shoal.imap(function(x)
      return -x
    end, count_to(math.huge))
  do
    assert(x == -i)
    if i == scaled(1000, 20) then
      break
    end
  end
  assert(support.others() == 0)
  local ok = pcall(function()
    for _ in shoal.imap(print, count_to(0)) do
    end
    for _ in
      shoal.imap(
        function()
          require("shoal").channel():receive("never")
        end,
        count_to(5),
        {
          progress = error,
        }
      )
    do
    end
  end)
  assert(ok == false or support.others() == 0)
end

-- Results before an error are received before it is raised.
do
  local got = {}
  local text = expect_error("item 5: five", function()
    for i in
      shoal.imap(function(x)
        if x >= 5 then
          error("five", 0)
        end
        return x
      end, count_to(100), { chunk = 1, size = 2 })
    do
      got[#got + 1] = i
    end
  end)
  assert(text:find("^item 5: five\nstack traceback:"), text)
  assert(#got == 4 and support.others() == 0)
  expect_error("no more", function()
    for _ in
      shoal.imap(function(x)
        return x
      end, function()
        error("no more", 0)
      end)
    do
    end
  end)
  assert(support.others() == 0)
end

-- A handle that is dropped ends its processes.
do
  local function start()
    local next_one = shoal.imap(function(x)
      return x
    end, count_to(math.huge))
    next_one()
  end
  start()
  support.eventually(function()
    collectgarbage()
    return support.others() == 0
  end)
end

-- Wrong arguments.
do
  local f = function() end
  expect_error("#1 to 'imap' (a function expected, got nil)", shoal.imap)
  expect_error("#2 to 'imap' (a list or an iterator expected, got number)", shoal.imap, f, 1)
  expect_error("#3 to 'imap' (a table of options expected, got boolean)", shoal.imap, f, {}, true)
  expect_error("#3 to 'imap' (there is no option 'x'", shoal.imap, f, {}, { x = 1 })
  expect_error("#3 to 'imap' (option 'size' is not a pos", shoal.imap, f, {}, { size = 0 })
  local co = coroutine.create(f)
  expect_error("#1 to 'imap' (cannot send a coroutine (at f(upvalue co)))", shoal.imap, function()
    return co
  end, {})
end
