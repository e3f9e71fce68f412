-- SPDX-License-Identifier: MIT
-- Programs of an article on concurrency in Lua run as they are printed: a loop of tasks that sleep,
-- lanes, a queue of work, luaproc, workers chosen by a hash, and a counter that all share.
local support = require("support")

-- Runs the program, which must end well. `before` is put before it, and is what the article leaves
-- out; `variables` goes before the command. It computes for too long to have a slice for each
-- instruction.
local function output_of(program, before, variables)
  local whole = (before or "") .. program
  local status, out, err = support.run(whole, "-u SHOAL_TEST_SLICES " .. (variables or ""))
  assert(status == 0 and err == "", out .. err)
  return out
end

local function expect_output(expected, ...)
  local out = output_of(...)
  assert(out == expected, out)
end

-- Tasks in a loop ---------------------------------------------------------------------------------

expect_output(
  "任务A 第1步\n任务A 第2步\n任务A 第3步\n",
  [[
local pending = {}

local function spawn(fn)
    local co = coroutine.create(fn)
    table.insert(pending, {co = co, at = os.clock()})
end

local function sleep(seconds)
    coroutine.yield(os.clock() + seconds)
end

local function run_loop()
    while #pending > 0 do
        local now = os.clock()
        for i = #pending, 1, -1 do
            local p = pending[i]
            if now >= p.at then
                local ok, err = coroutine.resume(p.co)
                if not ok then
                    print("协程错误: " .. tostring(err))
                    table.remove(pending, i)
                elseif coroutine.status(p.co) == "dead" then
                    table.remove(pending, i)
                else
                    p.at = err
                end
            end
        end
    end
end

spawn(function()
    for i = 1, 3 do
        print("任务A 第" .. i .. "步")
        sleep(0.1)
    end
end)
run_loop()
]]
)

-- Lanes -------------------------------------------------------------------------------------------

local SUM = [[
local lanes = require("lanes").configure()
local linda = lanes.linda()

local function worker(input)
    local sum = 0
    for i = 1, input do sum = sum + i end
    return sum
end

local gen = lanes.gen("*", worker)
local handle = gen(1000000)

local result = handle:join()
print("结果:", result)
]]
-- The article has the results of Lanes 3 in mind; in Lanes 4, true stands before them.
expect_output("结果:\t500000500000\n", SUM, nil, "SHOAL_LANES_API=3")
expect_output("结果:\ttrue\n", SUM)

-- In Lanes, receive("job", 1) asks for the keys "job" and 1; with a channel of Shoal it is the key
-- and the timeout that the article means.
expect_output(
  "1\ttrue\tnil\n2\tnil\todd\n3\ttrue\tnil\n",
  [[
lanes.gen("*", function()
    while true do
        local job = linda:receive("job", 1)
        if job then
            local ok, err = process(job)
            linda:send("result", job.id, ok, err)
        end
    end
end)()

for _, job in ipairs(jobs) do
    linda:send("job", job)
end

for _ = 1, #jobs do print(linda:receive("result")) end
]],
  [[
local lanes = require("lanes").configure()
local linda = require("shoal").channel()
local jobs = { { id = 1, n = 2 }, { id = 2, n = 3 }, { id = 3, n = 4 } }
local function process(job)
  if job.n % 2 == 0 then return true end
  return nil, "odd"
end
]]
)

-- luaproc -----------------------------------------------------------------------------------------

expect_output(
  "pong\n",
  [==[
local luaproc = require("luaproc")

luaproc.newproc([[
    local luaproc = require("luaproc")
    while true do
        local msg = luaproc.receive()
        if msg == "ping" then
            luaproc.send("pong")
        elseif msg == "quit" then
            break
        end
    end
]])

luaproc.send("ping")
print(luaproc.receive())
luaproc.send("quit")
]==]
)

-- Workers by hash, a shared counter ---------------------------------------------------------------

-- The three workers say what they get; equal users go to one worker.
expect_output(
  "worker_a\tann\nworker_c\tbob\nworker_a\tann\n",
  [[
local workers = {"worker_a", "worker_b", "worker_c"}
local function request(uid)
local idx = (crc32(uid) % #workers) + 1
local target = workers[idx]
inbox:send(target, uid)
print(inbox:receive("served"))
end
request("ann") request("bob") request("ann")
]],
  [[
local shoal = require("shoal")
local inbox = shoal.channel()
for _, name in ipairs({ "worker_a", "worker_b", "worker_c" }) do
  shoal.spawn({ daemon = true }, function()
    for uid in inbox:each(name) do inbox:send("served", name, uid) end
  end)
end
local function crc32(text)
  local crc = 0xFFFFFFFF
  for i = 1, #text do
    crc = crc ~ text:byte(i)
    for _ = 1, 8 do crc = (crc >> 1) ~ (0xEDB88320 & -(crc & 1)) end
  end
  return ~crc & 0xFFFFFFFF
end
]]
)

-- A channel counts where the article has a server.
expect_output(
  "400\ttrue\n",
  [[
local function visit()
local redis = require("resty.redis")
local red = redis:new()
red:connect("127.0.0.1", 6379)

local n = red:incr("visits")
red:expire("visits", 3600)
return n
end

local processes = {}
for i = 1, 4 do
  processes[i] = shoal.spawn(function() for _ = 1, 100 do visit() end end)
end
for _, process in ipairs(processes) do process:result() end

print(visits:get("visits"), visits:ttl("visits") > 3000)
]],
  [[
local shoal = require("shoal")
local visits = shoal.channel("redis") -- a channel lives as long as somebody has it
package.preload["resty.redis"] = function()
  local client = { connect = function() return true end }
  function client:incr(key) return self.channel:incr(key) end
  function client:expire(key, seconds) return self.channel:expire(key, seconds) end
  client.__index = client
  return {
    new = function()
      return setmetatable({ channel = require("shoal").channel("redis") }, client)
    end,
  }
end
]]
)
