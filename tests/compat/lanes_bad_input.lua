-- SPDX-License-Identifier: MIT
-- Each function of lanes with each wrong argument: an error that says which, at the caller's line.
local shoal = require("shoal")
local support = require("support")

-- Calls f(...), which must raise `expected` with the place of this file.
local function raises(expected, f, ...)
  local arguments = table.pack(...)
  local err = support.expect_error(expected, function()
    f(table.unpack(arguments, 1, arguments.n))
    return nil
  end)
  assert(err:find("^[^\n]*lanes_bad_input%.lua:%d+: "), err)
end

-- configure
do
  local function configure(settings)
    local p = shoal.spawn(function(given)
      local ok, err = pcall(require("lanes").configure, given)
      return not ok and err
    end, settings)
    return (p:result())
  end
  local function refuses(expected, settings)
    local err = configure(settings)
    assert(err and err:find(expected, 1, true), tostring(err))
  end
  refuses("a table expected, got number", 5)
  refuses("unknown setting 'foo'", { foo = 1 })
  refuses("unknown setting '1'", { "x" })
  refuses("bad value of setting 'api': 5", { api = 5 })
  refuses("bad value of setting 'with_timers': 1", { with_timers = 1 })
  refuses("bad value of setting 'shutdown_timeout': -1", { shutdown_timeout = -1 })
  refuses("bad value of setting 'nb_user_keepers': 101", { nb_user_keepers = 101 })
  refuses("bad value of setting 'linda_wake_period': 0", { linda_wake_period = 0 })
  refuses("bad value of setting 'on_state_create': true", { on_state_create = true })
  assert(not configure({
    nb_user_keepers = 2,
    keepers_gc_threshold = 0,
    allocator = "protected",
    internal_allocator = "libc",
    convert_fallback = "decay",
    convert_max_attempts = 3,
    strip_functions = false,
  }))
end

local lanes = require("lanes").configure({ with_timers = true })
local gen = lanes.gen
local function nothing() end

-- gen, and what it returns
raises("a function or its source expected, got nil", gen)
raises("a function or its source expected, got table", gen, "*", {})
raises("error when parsing lane function code", gen, "*", "return return")
raises('Bad library name: "foo"', gen, "base,foo", nothing)
raises('Duplicate library name: "io"', gen, "io,io", nothing)
raises("Bad argument #1 to gen: number", gen, 5, nothing)
raises("Bad 'foo' option", gen, { foo = 1 }, nothing)
raises("Bad 'globals' option: table expected, got number", gen, { globals = 1 }, nothing)
raises("Bad 'name' option: string expected, got boolean", gen, { name = true }, nothing)
raises("Bad 'gc_cb' option: function expected, got string", gen, { gc_cb = "x" }, nothing)
raises("Bad 'error_trace_level' option: all", gen, { error_trace_level = "all" }, nothing)
raises("Priority out of range: 0..+3 (4)", gen, { priority = 4 }, nothing)
assert(gen("bit?,string", nothing)():join())
raises("tried to copy unsupported types", gen("*", nothing), coroutine.create(print))
raises(
  "tried to copy unsupported types",
  gen("*", { globals = { x = coroutine.create(print) } }, nothing)
)
do
  local co = coroutine.create(print)
  raises(
    "tried to copy unsupported types",
    gen("*", function()
      return co
    end)
  )
  local file <close> = assert(io.open("/dev/null"))
  raises(
    "userdata referenced by '?' not found",
    gen("*", function()
      return file
    end)
  )
  raises("function referenced by '?' not found", gen("*", nothing), coroutine.wrap(print))
end

-- Handles
do
  local h = gen("*", "return 1")()
  raises("duration cannot be < 0", h.join, h, -1)
  raises("seconds expected, got x", h.join, h, "x")
  raises("seconds expected, got NaN", h.join, h, 0 / 0)
  raises("lane expected, got nil", h.join)
  raises("lane expected, got table", h.cancel, {})
  raises("invalid cancel option 'softly'", h.cancel, h, "softly")
  raises("hook count cannot be < 1", h.cancel, h, "count", 0)
  raises("duration cannot be < 0", h.cancel, h, "hard", -1)
  raises("seconds expected, got x", h.cancel, h, "soft", "x")
  raises("read-only", function()
    h.status = 1
  end)
  raises("unknown field 'resume'", function()
    return h.resume
  end)
  -- A lane has no handle of itself, so it cannot join itself; handles stay where they are made.
  raises("userdata referenced by '?' not found", gen("*", nothing), h)
  local failed = gen("*", function()
    return io.open("/dev/null")
  end)()
  raises("Userdata referenced by '?' not found", failed.join, failed)
end

-- In a lane
do
  local function in_lane(f)
    local _, err = gen("*", f)():join()
    return err
  end
  assert(in_lane(function()
    set_finalizer(5) -- luacheck: ignore
  end):find("bad argument #1 to 'set_finalizer' (function expected, got number)", 1, true))
  assert(in_lane(function()
    return string.fomat("x") -- luacheck: ignore
  end):find("attempt to call a nil value (field 'fomat')", 1, true))
end

-- Lindas
do
  raises("lanes.linda: unknown field 'foo'", lanes.linda, { foo = 1 })
  raises("lanes.linda: name: a string expected, got number", lanes.linda, 5)
  raises("lanes.linda: close_handler: a function expected", lanes.linda, { close_handler = 1 })
  raises("lanes.linda: bad value of wake_period: 0", lanes.linda, { wake_period = 0 })
  local l = lanes.linda("bad", 1)
  raises("Linda expected", l.send)
  raises("Linda expected", l.receive, {}, "k")
  raises("no data to send", l.send, l)
  raises("no data to send", l.send, l, 1)
  raises("invalid slot type", l.send, l, nil, nil, 1)
  raises("invalid slot type", l.send, l, nil, 0 / 0, 1)
  raises("duration cannot be NaN", l.send, l, 0 / 0, "k", 1)
  raises("no key to receive from", l.receive, l)
  raises("no key to receive from", l.receive, l, 0)
  raises("invalid slot type", l.receive, l, 0, "k", {})
  raises("number expected", l.receive_batched, l, 0, "k")
  raises("bad min count", l.receive_batched, l, 0, "k", 0)
  raises("batched min/max error", l.receive_batched, l, 0, "k", 2, 1)
  raises("invalid slot type", l.set, l, {}, 1)
  raises("count should be >= 1", l.get, l, "k", 0)
  raises("number expected", l.get, l, "k", "x")
  raises("invalid slot type", l.get, l)
  raises("limit should be a number or 'unlimited'", l.limit, l, "k", "none")
  raises("wrong number of arguments", l.limit, l)
  raises("invalid option 'all'", l.restrict, l, "k", "all")
  raises("invalid slot type", l.count, l, {})
  raises("unknown wake hint 'all'", l.cancel, l, "all")
  raises("unknown wake hint 'none'", l.wake, l, "none")
  raises("tried to copy unsupported types", l.send, l, "k", 1, { coroutine.create(print) })
  assert(l:count("k") == nil or l:count("k") == 0)
end

-- Timers, sleep, locks, names
do
  local l = lanes.linda()
  raises("lanes.timer: Linda expected, got nil", lanes.timer)
  raises("lanes.timer: a key expected, got nil", lanes.timer, l)
  raises("invalid slot type", lanes.timer, l, {}, 1)
  raises("lanes.timer: bad time of the first beat: x", lanes.timer, l, "k", "x")
  raises("lanes.timer: bad period: -1", lanes.timer, l, "k", 1, -1)
  raises("lanes.sleep: seconds expected, got -1", lanes.sleep, -1)
  raises("lanes.sleep: seconds expected, got x", lanes.sleep, "x")
  raises("bad argument #1 to 'genlock' (Linda expected, got nil)", lanes.genlock)
  raises("bad argument #3 to 'genlock'", lanes.genlock, l, "k", 0)
  raises("invalid slot type", lanes.genlock, l, {})
  raises("bad argument #1 to lock", lanes.genlock(l, "lock"), 0)
  raises("bad argument #1 to lock (2 is more", lanes.genlock(l, "lock"), 2)
  raises("bad argument #2 to lock", lanes.genlock(l, "lock"), 1, "soon")
  raises("bad argument #1 to 'genatomic' (Linda expected, got table)", lanes.genatomic, {})
  raises("bad argument #3 to 'genatomic'", lanes.genatomic, l, "k", "x")
  raises("bad argument #1 to atomic", lanes.genatomic(l, "atom"), "x")
  raises("bad argument #1 to 'nameof'", lanes.nameof)
  raises("bad argument #1 to 'register'", lanes.register)
  raises("bad argument #2 to 'register'", lanes.register, "x", 1)
  raises("bad argument #1 to 'require'", lanes.require)
  raises("lane tracking is not available", lanes.threads)
  raises("lanes.finally: a function expected", lanes.finally, 5)
end
