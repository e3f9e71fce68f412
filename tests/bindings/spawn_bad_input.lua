-- SPDX-License-Identifier: MIT
-- What spawn refuses: the error is the caller's, names the argument, and no process is made.
local shoal = require("shoal")
local support = require("support")
local expect_error = support.expect_error

-- Bodies.
expect_error(
  "bad argument #1 to 'spawn' (a function or source text expected, got no value)",
  function()
    shoal.spawn()
  end
)
for _, body in ipairs({ 5, true, io.stdout, coroutine.create(print), shoal.channel() }) do
  expect_error("a function or source text expected, got " .. type(body), shoal.spawn, body)
  expect_error("#2", shoal.spawn, {}, body)
end
expect_error("got nil", shoal.spawn, nil)
expect_error("#2", shoal.spawn, {})

-- Source text with a syntax error: with its line, and the caller's place.
do
  local err = expect_error("near '='", function()
    shoal.spawn("local x = 1\nlocal y = = 2")
  end)
  assert(err:find(":2:", 1, true), err)
  err = expect_error("near <eof>", function()
    shoal.spawn("if x then")
  end)
  assert(err:find("spawn_bad_input.lua", 1, true), "the caller's place is missing: " .. err)
end

-- Binary chunks are no source text.
expect_error("binary", shoal.spawn, string.dump(function() end))

-- A C function that is in no module, a body with an upvalue that cannot travel.
expect_error("body", shoal.spawn, require("foreign").closure(1))
do
  local co = coroutine.create(print)
  local err = expect_error("cannot send a coroutine", shoal.spawn, function()
    return co
  end)
  assert(err:find("body", 1, true) and err:find("co", 1, true), err)
end

-- Arguments that cannot travel.
expect_error(
  "cannot send a coroutine (at [2].x)",
  shoal.spawn,
  print,
  1,
  { x = coroutine.create(print) }
)

-- Files.
do
  expect_error("no/such/file.lua", shoal.spawn_file, "no/such/file.lua")
  expect_error("path", shoal.spawn_file)
  expect_error("path", shoal.spawn_file, {})
  expect_error("path", shoal.spawn_file, print)
  expect_error("", shoal.spawn_file, "/")
  local file <close> = support.temporary("local x\nx = = 1\n")
  local err = expect_error("near '='", shoal.spawn_file, file.path)
  assert(err:find(file.path:match("[^/]*$") .. ":2:", 1, true), err)
end

-- Options.
for _, case in ipairs({
  { "name", { name = 5 } },
  { "name", { name = true } },
  { "daemon", { daemon = 1 } },
  { "env", { env = "x" } },
  { "env", { env = { f = coroutine.create(print) } } },
  { "libs", { libs = 5 } },
  { "libs", { libs = "string" } },
  { "nothing_of_it", { libs = { "nothing_of_it" } } },
  { "libs", { libs = { 5 } } },
  { "seed", { seed = "x" } },
  { "seed", { seed = 1.5 } },
  { "naem", { naem = "x" } },
  { "option", { [1] = "x" } },
  { "option", { [{}] = "x" } },
}) do
  expect_error(case[1], shoal.spawn, case[2], "return 1")
end

-- Other functions of the module.
expect_error("id", shoal.process)
expect_error("id", shoal.process, {})
expect_error("id", shoal.process, 1.5)
expect_error("function", shoal.task)
expect_error("function", shoal.task, "return 1")
expect_error("function", shoal.task, {}, print)
expect_error("seconds", shoal.sleep)
expect_error("value expected", shoal.type)

-- Methods on what is no process.
do
  local p = shoal.spawn(function() end)
  p:join()
  for _, name in ipairs({ "join", "result", "status" }) do
    expect_error("process", p[name])
    expect_error("process", p[name], {})
    expect_error("process", p[name], shoal.channel())
    local t = shoal.task(function() end)
    t:join()
    expect_error("process", p[name], t)
    expect_error("task", t[name], p)
  end
end

shoal.wait()
assert(#shoal.processes() == 1, "a process was made")
