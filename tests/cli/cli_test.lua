#!/usr/bin/env lua5.4
-- SPDX-License-Identifier: MIT
-- Tests the program `shoal` from outside.
--
-- usage: cli_test.lua [NAME]        (in the top folder)
--
-- A NAME runs only the tests whose names contain it. The program is that of Bazel, or $SHOAL.

local top = assert(os.getenv("PWD"))
local only = arg[1] or ""

-- A folder of our own, with a copy of what the tests call.
local folder = os.getenv("TEST_TMPDIR")
if not folder then
  local pipe = assert(io.popen("mktemp -d"))
  folder = pipe:read("l")
  pipe:close()
end
folder = folder .. "/cli"

local function shell(command, ...)
  assert(os.execute(command:format(...)))
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(folder .. "/" .. path, "wb"))
  file:write(text)
  file:close()
end

local program = os.getenv("SHOAL") or (top .. "/bindings/cli/shoal")
shell("rm -rf %s && mkdir -p %s/ours %s/stock && test -x %s", folder, folder, folder, program)
-- Both are called "interp", so `arg[-1]` is the same.
shell("ln -s %s %s/ours/interp", program, folder)
shell("ln -s $(command -v lua5.4) %s/stock/interp", folder)

-- Variables for a command: `os.exit` may leave threads that are stuck, which is no fault.
local function environment(command)
  local variables = "env -u LUA_INIT -u LUA_INIT_5_4 -u LUA_PATH -u LUA_CPATH "
  if command:find("os.exit", 1, true) then
    variables = variables .. 'TSAN_OPTIONS="report_thread_leaks=0:$TSAN_OPTIONS" '
  end
  return variables
end

-- What all tests see.
local suite = { folder = folder, read = read, write = write }

-- Runs a command line of bash in which `interp` is "ours" or the "stock" interpreter. Returns its
-- output, its errors and its exit status.
function suite.run(which, command, input)
  write("command", command)
  write("input", input or "")
  local line = "cd %s && %sPATH=%s/%s:$PATH timeout 60 bash ./command <input >output 2>errors"
  local _, _, status = os.execute(line:format(folder, environment(command), folder, which))
  return read(folder .. "/output"), read(folder .. "/errors"), status
end

local failed, passed = 0, 0

-- Runs a test: a function that raises if something is wrong.
function suite.test(name, body)
  if not name:find(only, 1, true) then
    return
  end
  local fine, message = xpcall(body, debug.traceback)
  if fine then
    passed = passed + 1
  else
    failed = failed + 1
    print(("FAILED: %s\n%s\n"):format(name, message))
  end
end

function suite.equal(actual, expected, what)
  if actual ~= expected then
    local form = "%s\n--- expected:\n%s\n--- got:\n%s\n---"
    error(form:format(what or "not equal", tostring(expected), tostring(actual)), 2)
  end
end

for _, part in ipairs({ "stock", "program", "prompt", "simulator", "signals" }) do
  assert(loadfile(("%s/tests/cli/%s.lua"):format(top, part)))(suite)
end

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
