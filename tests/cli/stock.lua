-- SPDX-License-Identifier: MIT
-- What a script does that uses nothing of Shoal is what it does in the stock interpreter: output,
-- errors and exit status are compared.

local suite = ...

-- The files that the commands below use.
local FILES = {
  ["args.lua"] = [[
    local low, high = 0, 0
    for i in pairs(arg) do low, high = math.min(low, i), math.max(high, i) end
    for i = low, high do print(i, arg[i]) end
    print(...)]],
  ["shebang.lua"] = "#!/usr/bin/env interp\nprint(debug.getinfo(1, 'l').currentline, ...)",
  ["shebang_error.lua"] = "#!/usr/bin/env interp\nerror('in line 2')",
  ["syntax.lua"] = "local x = 1\nlocal y = = 2\n",
  ["unfinished.lua"] = "if x then\n",
  ["deep_error.lua"] = [[
    local function inner() error("in the depth") end
    local function outer() inner() return 1 end
    local t = setmetatable({}, { __index = function() outer() return 1 end })
    print(pcall(outer))
    function global_function() return t.x + 1 end
    global_function()]],
  ["coroutine_error.lua"] = [[
    local co = coroutine.wrap(function() coroutine.yield(1) error("in a coroutine") end)
    co()
    co()]],
  ["returns.lua"] = "return 1, 2, 'three'",
  ["reads.lua"] = [[
    print(io.read())
    print(io.read("n"))
    for line in io.lines() do print("<" .. line .. ">") end
    print(io.read())]],
  ["close.lua"] = [[
    local function closing(name)
      return setmetatable({}, { __close = function(_, e)
        -- When os.exit closes the state, ours tells that the process was cancelled.
        print("close " .. name, arg[1] ~= "close" and e or nil)
      end })
    end
    collected = setmetatable({}, { __gc = function() print("collected") end })
    local a <close> = closing("a")
    do local b <close> = closing("b") end
    local co = coroutine.wrap(function() local c <close> = closing("c") coroutine.yield() end)
    co()
    if arg[1] == "error" then error("failed") end
    if arg[1] == "exit" then os.exit(4) end
    if arg[1] == "close" then os.exit(5, true) end
    print("end")]],
  ["gc_error.lua"] = [[
    keep = setmetatable({}, { __gc = function() io.stderr:write("collected\n") end })
    error("before that")]],
  ["buffered.lua"] = [[
    local file = io.open("buffered", "w")
    file:setvbuf("full")
    file:write("kept")
    io.write("no newline")
    os.exit(tonumber(arg[1]))]],
  ["module.lua"] = "local name, path = ... print(name, path) return { answer = 42 }",
  ["broken_module.lua"] = "return = 1",
  ["failing_module.lua"] = "error('while loading')",
  ["libraries.lua"] = [[
    for _, t in ipairs { _G, string, table, math, io, os, utf8, coroutine, debug, package } do
      local names = {}
      for name in pairs(t) do names[#names + 1] = name end
      table.sort(names)
      print(table.concat(names, " "))
    end]],
  ["init.lua"] = "print('init file', ...) initialised = true",
  ["-"] = "print('a file called -')",
}
for name, text in pairs(FILES) do
  suite.write(name, text)
end

-- Each is a command; a table has the input as well.
local COMMANDS = {
  -- What is run.
  "interp returns.lua",
  "interp args.lua",
  "interp args.lua a 'b c' '' -e",
  "interp -W -e 'x = 1' args.lua a",
  "interp -- args.lua a",
  "interp -e 'print(arg[0], arg[1], arg[-1], #arg)'",
  "interp -e 'print(1)' -e 'print(2)' returns.lua",
  "interp -e'print(1)' -e 'local x <close> = setmetatable({}, { __close = os.exit })'",
  "interp shebang.lua 1",
  "interp ./shebang.lua",
  { "interp - a b", "print(arg[0], ...)\nprint(io.read())" },
  { "interp", "print(arg[0], arg[1], ...)" },
  { "interp", "#!shebang\nprint(1)" },
  { "interp -", "#!shebang\nprint(1) error('in stdin')" },
  { "interp -", "x = = 1" },
  { "interp -- -", "" },
  { "interp reads.lua", "first\n12.5\nx\ny" },
  { "interp reads.lua", "" },
  { "interp -e 'print(io.read())'", "a line\n" },
  { "interp -i", "" },
  "cat args.lua | interp /dev/stdin a",
  "interp -l module -e 'print(module.answer)'",
  "interp -l m=module -e 'print(m.answer, module)'",
  "interp -lmodule -e 'print(package.loaded.module.answer)'",
  "interp -e 'setmetatable(_G, { __newindex = function(t, k, v) print(k) end })' -l m=module",
  -- What fails.
  "interp missing.lua",
  "interp .",
  "interp syntax.lua",
  "interp unfinished.lua",
  "interp shebang_error.lua",
  "interp deep_error.lua",
  "interp coroutine_error.lua",
  "interp gc_error.lua",
  "interp -e 'x = = 1' -e 'print(2)'",
  "interp -e 'error(\"first\")' -e 'print(2)'",
  "interp -e 'error(\"no position\", 0)'",
  "interp -e 'error(\"level 2\", 2)'",
  "interp -e 'error()'",
  "interp -e 'error(nil)'",
  "interp -e 'error({})'",
  "interp -e 'error(12)'",
  "interp -e 'error(true)'",
  "interp -e 'error(print)'",
  "interp -e 'error(setmetatable({}, { __tostring = function() return \"as text\" end }))'",
  "interp -e 'error(setmetatable({}, { __tostring = function() return 7 end }))'",
  "interp -e 'error(setmetatable({}, { __tostring = function() error(\"twice\") end }))'",
  "interp -e 'error(setmetatable({}, { __name = \"Named\" }))'",
  "interp -e 'error(\"a\\nb\")'",
  "interp -e 'local t = nil; t.x = 1'",
  "interp -e 'local x <close> = setmetatable({}, { __close = function() error(\"closing\") end })'",
  "interp -e 'return error(\"tail\")'",
  "interp -e 'string.rep()'",
  "interp -e '(\"x\"):bad()'",
  "interp -e 'pcall(error, 1) xpcall(error, print, 2) print(select(2, pcall(error)))'",
  "interp -e 'table.sort({ 3, 2, 1 }, function(a, b) error(\"in sort\") end)'",
  "interp -e 'require \"no.such.module\"'",
  "interp -l no_such_module",
  "interp -l broken_module",
  "interp -l failing_module",
  "interp -e 'arg = 1' returns.lua",
  "interp -e 'arg = { \"changed\" }' args.lua x",
  "interp -e 'require = nil' -l module",
  -- How it ends.
  "interp close.lua",
  "interp close.lua error",
  "interp close.lua exit",
  "interp close.lua close",
  "interp buffered.lua 0; echo $?; cat buffered",
  "interp -e 'os.exit()'; echo $?",
  "interp -e 'os.exit(true)'; echo $?",
  "interp -e 'os.exit(false)'; echo $?",
  "interp -e 'os.exit(7)'; echo $?",
  "interp -e 'os.exit(256 + 8, true)'; echo $?",
  "interp -e 'os.exit(-1)'; echo $?",
  "interp -e 'os.exit(\"x\")'",
  "interp -e 'pcall(os.exit, 3) print(\"not reached\")'; echo $?",
  "interp -e 'coroutine.wrap(function() os.exit(3) end)()'; echo $?",
  "interp -e 'coroutine.wrap(function() os.exit(3, true) end)()'; echo $?",
  "interp -e 'table.sort({ 1, 2 }, function() os.exit(3) end)'; echo $?",
  "interp -e 'table.sort({ 1, 2 }, function() os.exit(3, true) end)'; echo $?",
  "interp -e 'setmetatable({}, { __gc = function() os.exit(3) end }) collectgarbage()'; echo $?",
  "interp -e 'x = setmetatable({}, { __gc = function() print(1) end })' -e 'os.exit(0, true)'",
  "interp -e 'x = setmetatable({}, { __gc = function() error(1) end })' -W",
  "interp -W -e 'x = setmetatable({}, { __gc = function() error(\"e\") end })'",
  -- Options and the environment.
  'interp -W -e \'warn("one ", "two") warn("@off") warn("three")\'',
  'interp -e \'warn("off") warn("@on") warn("on")\'',
  "LUA_INIT='print(1, ...)' interp args.lua a",
  "LUA_INIT='print(1)' LUA_INIT_5_4='print(2)' interp -e 'print(3)'",
  "LUA_INIT=@init.lua interp -e 'print(initialised)'",
  "LUA_INIT=@missing.lua interp -e 'print(1)'",
  "LUA_INIT='x = = 1' interp -e 'print(1)'",
  "LUA_INIT='error(1)' interp -e 'print(1)'",
  "LUA_INIT_5_4='error(\"failed\")' interp -e 'print(1)'",
  "LUA_INIT='print(1)' interp -E -e 'print(2)'",
  "LUA_PATH='x/?.lua;;' LUA_CPATH_5_4='y/?.so' interp -e 'print(package.path, package.cpath)'",
  "LUA_PATH='x/?.lua' LUA_CPATH='y/?.so' interp -E -e 'print(package.path, package.cpath)'",
  "LUA_PATH='x/?.lua' interp -E -e 'print(os.getenv(\"LUA_PATH\"))'",
  -- What is around.
  "interp -e 'print(_VERSION, package.config, collectgarbage(\"incremental\"))'",
  "interp libraries.lua",
  "interp -e 'print(coroutine.running()) ' | sed 's/0x[0-9a-f]*//'",
  "interp -e 'print(coroutine.isyieldable(), pcall(coroutine.yield, 1))'",
  "interp -e 'print(debug.traceback(\"here\"))'",
  "interp -e 'print(os.setlocale())'",
  'interp -e \'local c = require "cjson" print(c.encode { 1, c.null }, #c.decode("[2]"))\'',
  'interp -e \'require("cjson").decode("[")\'',
  'interp -e \'local l = require "lpeg" print(l.match(l.C(l.R("az") ^ 1), "abc1"))\'',
  "interp -e 'require(\"lpeg\").match(1)'",
  -- Streams, signals and other programs.
  "interp -e 'for i = 1, 200000 do print(i, \"of many\") end' | cksum",
  "interp -e 'io.write((\"x\"):rep(20000000))' | wc -c",
  "interp -e 'while true do print(\"again\") end' | head -2; echo ${PIPESTATUS[*]}",
  "interp -e 'print(io.write(\"x\"):close())' >&-; echo $?",
  "interp -e 'io.stdout:setvbuf(\"full\") print(1) io.stderr:write(2)'",
  "interp -e 'print(1)' >/dev/full; echo $?",
  'interp -e \'print(io.popen("echo from a shell; exit 3"):read("a"))\'',
  "interp -e 'print(os.execute(\"exit 3\"))'",
  "interp -e 'print(os.execute(\"kill -TERM $$\"))'",
  'interp -e \'print(io.popen("exec sed -n /SigBlk/p /proc/self/status"):read("a"))\'',
  "interp -e 'os.execute(\"exec sed -n /SigBlk/p /proc/self/status\")'",
}

-- The sanitizers have words of their own about it.
if (os.getenv("SANITIZER_LIBRARY") or "") == "" then
  COMMANDS[#COMMANDS + 1] = "interp -e 'string.rep(\"x\", 1 << 40)'"
end

for _, case in ipairs(COMMANDS) do
  local command, input = case, ""
  if type(case) == "table" then
    command, input = case[1], case[2]
  end
  suite.test(command, function()
    local function outcome(which, name)
      local output, errors, status = suite.run(which, command, input)
      -- Apart from the program's name, and the version that -i prints.
      errors = ("\n" .. errors):gsub("\n" .. name .. ": ", "\nNAME: ")
      output = output:gsub("^Shoal [%d.]+  %((Lua [^\n]*)%)\n", "%1\n")
      return ("%s--- stderr:%s--- status %d"):format(output, errors, status)
    end
    suite.equal(outcome("ours", "shoal"), outcome("stock", "interp"))
  end)
end
