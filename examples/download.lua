-- SPDX-License-Identifier: MIT
-- Fetches pages with LuaSocket, all at one time: each in a task that waits while others go on.
--
-- usage: shoal download.lua [URL...]
--
-- Without a URL, it fetches some from a server of its own, each of which takes its time.
local shoal = require("shoal")
local socket = require("socket")
local http = require("socket.http")

local urls = { table.unpack(arg) }

-- A server that answers after a tenth of a second, in a process of its own.
local function serve(channel)
  local server = assert(socket.bind("127.0.0.1", 0))
  local _, port = server:getsockname()
  channel:send("port", port)
  while true do
    local client = server:accept()
    shoal.task(function()
      local path = client:receive():match("^GET (%S+)")
      repeat
      until client:receive() == ""
      shoal.sleep(0.1)
      client:send("HTTP/1.0 200 OK\r\n\r\n" .. ("This is " .. path .. "\n"):rep(1000))
      client:close()
    end)
  end
end

if #urls == 0 then
  local channel = shoal.channel()
  shoal.spawn({ daemon = true }, serve, channel)
  local port = channel:receive("port")
  for i, page in ipairs({ "one", "two", "three", "four", "five" }) do
    urls[i] = ("http://127.0.0.1:%d/%s"):format(port, page)
  end
end

-- Tasks of one process share its variables. None comes in between but where another one waits.
local bytes, ended = 0, 0

-- Fetches a page and returns its size and the code of HTTP; or nil and an error.
local function fetch(url)
  local size = 0
  local ok, code = http.request({
    url = url,
    sink = function(piece)
      size = size + #(piece or "")
      bytes = bytes + #(piece or "")
      return 1
    end,
  })
  ended = ended + 1
  return ok and size, code
end

local began = shoal.now()
local function rate()
  return bytes / (shoal.now() - began) / 1000
end

local failed = 0
do
  -- Whatever takes longer than two seconds shows how it gets on. The task ends with its scope.
  local _ <close> = shoal.task(function()
    while true do
      shoal.sleep(2)
      io.stderr:write(("%d of %d pages, %d bytes, %.1f kB/s\n"):format(ended, #urls, bytes, rate()))
    end
  end)
  local tasks = {}
  for i, url in ipairs(urls) do
    tasks[i] = shoal.task(fetch, url)
  end
  for i, url in ipairs(urls) do
    local size, code = tasks[i]:result()
    if size then
      print(("%-6s %7d bytes"):format(url:match("[^/]*$"), size), code)
    else
      print(url, code)
      failed = failed + 1
    end
  end
end
print(("%d pages in %.2f s, %.1f kB/s"):format(#urls - failed, shoal.now() - began, rate()))
os.exit(failed == 0)
