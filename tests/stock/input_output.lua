-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- The io and os libraries, as far as they do not depend on the machine.

local path = os.tmpname()
local function clean(...)
  local values = table.pack(...)
  for i = 1, values.n do
    if type(values[i]) == "string" then
      values[i] = values[i]:gsub(path:gsub("%p", "%%%0"), "PATH")
    end
  end
  return table.unpack(values, 1, values.n)
end

-- Writing and reading.
do
  local file = assert(io.open(path, "w"))
  print(io.type(file), io.type(io.stdout), io.type(5), io.type("x"))
  print(file:write("first line\n", 12, " ", 1.5, "\n") == file)
  print(file:write("12 0x1F -3.5e2 nope\n", "\n", "last line without end") == file)
  print(file:seek("cur"), file:seek("set", 2), file:seek("end"))
  print(file:close(), io.type(file), pcall(file.write, file, "x"))
  print((tostring(file):gsub("0x%x+", "ADDRESS")))
  print(pcall(file.close, file))
end
for _, formats in ipairs({
  { "l" },
  { "L" },
  { "n" },
  { "a" },
  { 0 },
  { 5 },
  { "l", "n", "n", "l" },
  { "*l" },
  { 100000 },
  {},
  { "l", "l", "n", "n", "n", "n" },
}) do
  local file <close> = assert(io.open(path))
  print(#formats, pcall(file.read, file, table.unpack(formats)))
  print("rest", (file:read("a") or ""):len(), file:read("a"), file:read("l"), file:read(0))
end
for line in io.lines(path) do
  print("lines", line)
end
for line in io.lines(path, "L") do
  print("lines L", (line:gsub("\n", "\\n")))
end
for a, b in io.lines(path, 1, 2) do
  print("lines 1 2", a, b)
  if a == "l" then
    break
  end
end
print(clean(pcall(io.lines, path .. ".none")))
print(clean(io.open(path .. ".none")))
print(clean(io.open(path .. ".none", "r")))
print(pcall(io.open, path, "rw"))
do
  local file = assert(io.open(path, "a+"))
  file:write("\nappended")
  file:seek("set")
  print(file:read("l"))
  file:close()
  file = assert(io.open(path, "r+"))
  file:write("FIRST")
  file:seek("set")
  print(file:read("l"))
  print(file:seek("set", 0), file:read(5), file:seek("cur", -2), file:read(2))
  print(pcall(file.seek, file, "bad"))
  print(
    file:setvbuf("full", 1024),
    file:setvbuf("no"),
    file:setvbuf("line"),
    pcall(file.setvbuf, file, "x")
  )
  print(file:flush() == file, io.flush ~= nil)
  file:close()
  local iterator
  do
    local f <close> = assert(io.open(path))
    iterator = f:lines()
    print(iterator())
  end
  print(pcall(iterator))
end
-- Errors in lines, reads and writes.
do
  local file = assert(io.open(path, "r"))
  print(pcall(file.read, file, "x"))
  print((pcall(file.lines, file, "x")))
  print(file:write("x"))
  file:close()
  print((pcall(io.lines, path, "x")))
  print(pcall(file.read, 5))
  print(pcall(io.read, {}))
end
-- Default files.
do
  local old_in, old_out = io.input(), io.output()
  io.input(path)
  print(io.read("l"), io.read("n"))
  print(io.input() ~= old_in, io.close(io.input()))
  io.input(old_in)
  local out = os.tmpname()
  io.output(out)
  io.write("to the ", "file", 1, "\n")
  print(io.output():seek("end"))
  io.close()
  io.output(old_out)
  io.input(out)
  print(io.read("a"))
  io.close(io.input())
  io.input(old_in)
  os.remove(out)
  print(io.read("a"), io.read("l"), io.read(1), io.read("n"), io.read(0))
end
-- Other programs.
do
  local pipe = assert(io.popen("echo one; echo two; exit 3"))
  print(io.type(pipe), pipe:read("l", "l", "l"))
  print(pipe:close())
  pipe = assert(io.popen("cat >" .. path, "w"))
  pipe:write("through a pipe\n")
  print(pipe:close())
  for line in io.lines(path) do
    print(line)
  end
  for line in io.popen("printf 'a\\nb\\nc'"):lines() do
    print("popen", line)
  end
  print(pcall(io.popen, "true", "bad"))
  print(os.execute("exit 5"))
  print(os.execute("true"))
  print(os.execute("kill -9 $$"))
  print(os.execute())
  io.write("before ")
  io.flush()
  os.execute("echo from a shell")
  io.write("after\n")
  local co = coroutine.wrap(function()
    for line in io.popen("echo x; echo y"):lines() do
      coroutine.yield(line)
    end
  end)
  print(co(), co(), co())
end
-- os.
print(
  os.time({ year = 2000, month = 1, day = 1, hour = 12, isdst = false })
    - os.time({ year = 1999, month = 12, day = 31, hour = 12, isdst = false })
)
print(os.date("!%Y-%m-%d %H:%M:%S", 0), os.date("!%j %y %p %a %b", 86400 * 40))
do
  local t = os.date("!*t", 1e9)
  print(t.year, t.month, t.day, t.hour, t.min, t.sec, t.wday, t.yday, t.isdst)
  local normal = { year = 2001, month = 14, day = -3, hour = 25, min = 61, sec = -1 }
  os.time(normal)
  print(normal.year, normal.month, normal.day, normal.min, normal.sec)
  print(os.difftime(10, 5), math.type(os.time()), math.type(os.clock()), os.clock() >= 0)
end
print(pcall(os.date, "%Q"))
print(pcall(os.time, { year = 2000 }))
print(pcall(os.date, "*t", 1e100))
print(os.getenv("NO_SUCH_VARIABLE_HERE"), type(os.getenv("PATH")))
print(clean(os.rename(path .. ".none", path)))
print(clean(os.remove(path .. ".none")))
print(os.rename(path, path .. ".new"), os.remove(path .. ".new"))
print(type(os.tmpname()), pcall(os.setlocale, "C"), os.setlocale("xx_XX"))
do
  local file = io.tmpfile()
  file:write("temporary")
  file:seek("set")
  print(file:read("a"))
  file:close()
end
-- print and tostring with odd values.
print()
print(nil, false, 1, 1.0, "x")
io.write("no newline", "\n")
io.stdout:write("chained "):write("writes\n")
print(("%s"):format(nil), #tostring(io.stdout) > 0, (tostring(io.stdout):gsub("0x%x+", "ADDRESS")))
print(pcall(
  print,
  setmetatable({}, {
    __tostring = function()
      return {}
    end,
  })
))
warn("@on")
io.stderr:write("")
print(pcall(warn))
print(pcall(warn, "x", {}))
print(select("#", table.unpack(arg, 0)), arg[1], ...)
