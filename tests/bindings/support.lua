-- SPDX-License-Identifier: MIT
-- What the Lua tests share.
--
-- The environment, which run.sh sets:
--   SHOAL             the program
--   SHOAL_TEST_SCALE  a factor for sizes; smaller than 1 under the sanitizers
--   SHOAL_TEST_TIME   seconds that a program may take; default: 60
--   SHOAL_TEST_SEED   the seed of tests that draw numbers; default: the time
local shoal = require("shoal")

local support = {}

support.scale = tonumber(os.getenv("SHOAL_TEST_SCALE") or 1)
support.workers = shoal.workers()
support.collects = os.getenv("SHOAL_TEST_COLLECT") ~= nil
support.every = os.getenv("SHOAL_TEST_SLICES") == "every"
support.sanitized = (os.getenv("SANITIZER_LIBRARY") or "") ~= ""
-- A host runs the script, with the stock functions of the interpreter: its tasks catch cancels.
support.host = os.getenv("SHOAL_TEST_HOST") ~= nil
support.script_id = support.host and 0 or 1
-- The exit status after an error that nobody joins.
support.unjoined = support.host and 0 or 1

-- `n` things, or less where the test is slow; never less than `least`.
function support.scaled(n, least)
  return math.max(least or 2, math.floor(n * support.scale))
end

-- Calls f(...), which must raise. `expected` must be in its text (as it stands, no pattern).
-- Returns the error value.
function support.expect_error(expected, f, ...)
  local outcome = table.pack(pcall(f, ...))
  if outcome[1] then
    error(("no error, expected %q"):format(expected), 2)
  end
  local text = tostring(outcome[2])
  if not text:find(expected, 1, true) then
    error(("error %q, expected %q"):format(text, expected), 2)
  end
  return outcome[2]
end

-- Equality down to the last leaf. Floats and integers differ, NaN equals NaN, cycles may be.
local function same(a, b, seen)
  if math.type(a) ~= math.type(b) then
    return false
  elseif rawequal(a, b) then
    return a ~= 0 or 1 / a == 1 / b
  elseif a ~= a then
    return b ~= b
  elseif type(a) ~= "table" or type(b) ~= "table" then
    return false
  elseif seen[a] then
    return seen[a] == b
  end
  seen[a] = b
  for key, value in next, a do
    if not same(value, rawget(b, key), seen) then
      return false
    end
  end
  for key in next, b do
    if rawget(a, key) == nil then
      return false
    end
  end
  return true
end

function support.same(a, b)
  return same(a, b, {})
end

-- Checks that the values of a packed list are these, nil too.
function support.expect(list, ...)
  local expected = table.pack(...)
  if list.n ~= expected.n then
    error(("%d values, expected %d"):format(list.n, expected.n), 2)
  end
  for i = 1, expected.n do
    if not same(list[i], expected[i], {}) then
      error(("value %d is %s, expected %s"):format(i, list[i], expected[i]), 2)
    end
  end
end

-- Draws numbers that can be drawn again.
function support.random()
  local seed = math.tointeger(os.getenv("SHOAL_TEST_SEED")) or os.time()
  print("seed " .. seed)
  math.randomseed(seed)
  return math.random
end

-- A value for a `<close>` variable: calls f when its scope is left.
function support.closing(f)
  return setmetatable({}, { __close = f })
end

-- What follows is for tests that cannot know how long something takes: any thread may stand still
-- at any point, for seconds.

-- Waits until condition() is true, and returns what it gave. It must become so: the deadline is for
-- what never does.
function support.eventually(condition)
  local deadline = shoal.now() + 120
  while true do
    local got = condition()
    if got then
      return got
    elseif shoal.now() > deadline then
      error("what the test waits for does not come", 2)
    end
    shoal.sleep(0.001)
  end
end

-- Calls f() until it returns a true value: for what must be possible, but not each time.
function support.some_time(name, f)
  for _ = 1, 20 do
    if f() then
      return
    end
  end
  error(name .. ": not in 20 attempts", 2)
end

-- f() can be done in less than so many seconds.
function support.quick(seconds, f)
  local took
  for _ = 1, 5 do
    local start = shoal.now()
    f()
    took = shoal.now() - start
    if took < seconds then
      return
    end
  end
  error(("it takes %g s each time"):format(took), 2)
end

-- In a program that support.run has started: waits until `text` has been put out on stderr.
function support.until_reported(text)
  support.eventually(function()
    local file <close> = assert(io.open("/proc/self/fd/2"))
    return file:read("a"):find(text, 1, true)
  end)
end

-- Returns the process when it waits.
function support.until_waiting(process)
  while process:status() ~= "waiting" do
    shoal.yield()
  end
  return process
end

-- The processes but this one that have not ended.
function support.others()
  local ended = { done = true, error = true, cancelled = true }
  local others = {}
  for _, process in ipairs(shoal.processes()) do
    if process ~= shoal.self() and not ended[process:status()] then
      others[#others + 1] = tostring(process)
    end
  end
  return #others, table.concat(others, ", ")
end

-- The resident memory of the program in bytes.
function support.memory()
  local file <close> = assert(io.open("/proc/self/statm"))
  local pages = file:read("a"):match("^%d+ (%d+)")
  return tonumber(pages) * 4096
end

-- The threads of the program.
function support.threads()
  local file <close> = assert(io.open("/proc/self/status"))
  return tonumber(file:read("a"):match("Threads:%s*(%d+)"))
end

local function read_all(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

function support.write_file(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

-- A path for a file of the test, which `local f <close>` removes.
function support.temporary(text)
  local path = os.tmpname()
  if text then
    support.write_file(path, text)
  end
  return setmetatable({ path = path }, {
    __close = function(self)
      os.remove(self.path)
    end,
  })
end

-- Runs the program on the script text and returns its exit status, output and error output.
-- `before` goes before the program on the command line: "VARIABLE=value".
function support.run(source, before)
  local script <close> = support.temporary(source)
  local out <close> = support.temporary()
  local err <close> = support.temporary()
  local command = ("%s timeout %s '%s' '%s' >'%s' 2>'%s' </dev/null"):format(
    before and "env " .. before or "",
    os.getenv("SHOAL_TEST_TIME") or 60,
    assert(os.getenv("SHOAL"), "the variable SHOAL is not set"),
    script.path,
    out.path,
    err.path
  )
  local _, how, status = os.execute(command)
  if how ~= "exit" or status == 124 then
    status = how .. " " .. status
  end
  return status, read_all(out.path), read_all(err.path)
end

return support
