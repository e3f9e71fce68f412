-- SPDX-License-Identifier: MIT
-- A wait works wherever Lua code runs: where Lua can suspend it and where it cannot. Each place is
-- tried with each kind of wait, while a sibling task goes on.
local shoal = require("shoal")
local support = require("support")

local places = {}
for _, part in ipairs({ "waiting_places", "waiting_places_in_c" }) do
  require(part)(places, function(name, f)
    places[name] = function(wait)
      local got = f(wait)
      assert(got == 7, ("%s gave %s"):format(name, got))
    end
  end)
end

local ch = shoal.channel()

-- A process that sends back what it gets.
local echo = shoal.spawn(function(channel)
  for reply, value in channel:each("ask") do
    channel:send(reply, value)
  end
end, ch)

local replies = 0
local kinds = {
  receive = function(value)
    replies = replies + 1
    local key = "reply " .. replies
    ch:send("ask", key, value)
    return (ch:receive(key))
  end,
  receive_any = function(value)
    replies = replies + 1
    local key = "reply " .. replies
    ch:send("ask", key, value)
    local from, got = ch:receive_any({ "never", key })
    assert(from == key)
    return got
  end,
  receive_batch = function(value)
    replies = replies + 1
    local key = "reply " .. replies
    ch:send("ask", key, value)
    return ch:receive_batch(key, 10)[1]
  end,
  timeout = function(value)
    local got, why = ch:receive("never", 0.001)
    assert(got == nil and why == "timeout")
    return value
  end,
  send = function(value)
    replies = replies + 1
    local key = "rendezvous " .. replies
    ch:limit(key, 0)
    local t = shoal.task(function()
      local got = ch:receive(key)
      return got
    end)
    assert(ch:send(key, value))
    return t:result()
  end,
  sleep = function(value)
    shoal.sleep(0.001)
    return value
  end,
  yield = function(value)
    shoal.yield()
    return value
  end,
  join_task = function(value)
    return shoal
      .task(function(v)
        shoal.yield()
        return v
      end, value)
      :result()
  end,
  join_process = function(value)
    return shoal
      .spawn(function(v)
        return v
      end, value)
      :result()
  end,
}

-- A sibling that runs whenever the task of the test waits.
local beats, stop = 0, false
local heart = shoal.task(function()
  while not stop do
    beats = beats + 1
    shoal.yield()
  end
end)

-- The kinds that never find at once what they wait for.
local surely_waits = { sleep = true, timeout = true, yield = true }

local alone = not os.getenv("SHOAL_TEST_SLICES") -- each instruction may let the sibling run late

local function try(place, kind)
  local waits = 0
  local function wait(value)
    waits = waits + 1
    local before = beats
    local got = kinds[kind](value)
    assert(not (alone and surely_waits[kind]) or beats > before, "the sibling stood still")
    return got
  end
  local ok, err = xpcall(places[place], debug.traceback, wait)
  if not ok then
    error(("a wait of kind %s in %s: %s"):format(kind, place, err), 0)
  end
  assert(waits > 0, place)
end

-- The stock require, which a host has, runs the body of a module once for each task that asks.
if support.host then
  places["the body of a module, required by two tasks"] = nil
end

local names, kind_names = {}, {}
for name in pairs(places) do
  names[#names + 1] = name
end
for name in pairs(kinds) do
  kind_names[#kind_names + 1] = name
end
table.sort(names)
table.sort(kind_names)
assert(#names >= 60)

for _, place in ipairs(names) do
  for _, kind in ipairs(kind_names) do
    try(place, kind)
  end
end

-- Many at once, each in a task of its own: waits of one process, nested in any order. Not all at
-- once: where Lua cannot suspend, the C stack bounds how deep they may be nested.
alone = false
local random = support.random()
for _ = 1, support.scaled(40) do
  local tasks = {}
  for i = 1, 12 do
    local place
    repeat
      place = names[random(#names)]
    until not place:find("^alone: ")
    tasks[i] = shoal.task(try, place, kind_names[random(#kind_names)])
  end
  for _, t in ipairs(tasks) do
    t:result()
  end
end

stop = true
heart:result()
ch:close()
echo:result()
