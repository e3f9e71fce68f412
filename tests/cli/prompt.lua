-- SPDX-License-Identifier: MIT
-- The prompt, at a terminal and without one.

local suite = ...
local test, equal = suite.test, suite.equal
local open = assert(loadfile(os.getenv("PWD") .. "/tests/cli/terminal.lua"))(suite)

local STATE = suite.folder .. "/state"
local HISTORY = STATE .. "/shoal/history"
local CONTROL_C, CONTROL_D, UP = "\3", "\4", "\27[A"

-- A fresh prompt whose history is in STATE.
local function prompt(options)
  local session = open(("XDG_STATE_HOME=%s exec interp %s"):format(STATE, options or ""))
  session:expect("Shoal ")
  session:expect("\n> ")
  return session
end

local function leave(session)
  session:type(CONTROL_D)
  equal(session:close(), 0, "status")
end

local function forget()
  os.execute("rm -rf " .. STATE)
end

test("the prompt prints the values of expressions", function()
  forget()
  local session = prompt()
  session:enter("1 + 1", "2")
  session:enter("= 'a', nil", "a\tnil")
  session:enter("x = 7")
  session:enter("return x", "7")
  session:enter("print(x)", "7")
  session:enter("'gr\xc3\xbcn'", "gr\xc3\xbcn")
  session:enter("'gr\xc3\xbcn' == 'gr\\xc3\\xbcn'", "true")
  leave(session)
end)

test("the prompt reads on while a statement is incomplete", function()
  local session = prompt("-i")
  session:enter("for i = 1, 2 do", nil, "\n>> ")
  session:enter("print(i * 10)", nil, "\n>> ")
  session:enter("end", "10\n20")
  leave(session)
end)

test("the prompt goes on after errors", function()
  local session = prompt()
  session:enter("error('oops')", "stdin:1: oops\nstack traceback:")
  session:enter("x y", "stdin:1: syntax error near 'y'")
  session:enter("error({})", "(error object is a table value)")
  session:enter("print = nil")
  session:enter("1", "error calling 'print' (attempt to call a nil value)")
  leave(session)
end)

test("_PROMPT and _PROMPT2 are shown", function()
  local session = prompt()
  session:enter("_PROMPT2 = setmetatable({}, { __tostring = function() return 'more: ' end })")
  session:enter("_PROMPT = 'first: '", nil, "\nfirst: ")
  session:enter("do", nil, "\nmore: ")
  session:enter("end", nil, "\nfirst: ")
  leave(session)
end)

test("Ctrl-C abandons the statement", function()
  local session = prompt()
  session:enter("for i = 1, 2 do", nil, "\n>> ")
  session:type("rubbish")
  session:expect("rubbish")
  session:type(CONTROL_C)
  session:expect("^C\n> ")
  session:enter("3", "3")
  leave(session)
end)

test("the history is kept from one prompt to the next", function()
  forget()
  local session = prompt()
  session:enter("'first'", "first")
  session:enter("x = 'sec' ..", nil, "\n>> ")
  session:enter("'ond \\\\' print(x)", "second \\")
  session:enter("'last'", "last")
  session:enter("'last'", "last")
  leave(session)
  equal(suite.read(HISTORY), "'first'\nx = 'sec' ..\\n'ond \\\\\\\\' print(x)\n'last'\n")

  session = prompt()
  session:type(UP)
  session:expect("'last'")
  session:type(UP .. UP)
  session:expect("'first'")
  session:enter("", "first")
  leave(session)
  local mode = io.popen("stat -c %a " .. HISTORY)
  equal(mode:read("l"), "600", "mode of the history")
  mode:close()
end)

test("the prompt works where no history can be kept", function()
  local session = open("XDG_STATE_HOME=/proc/none exec interp")
  session:expect("\n> ")
  session:enter("5", "5")
  leave(session)
end)

test("a script and -i: the script runs first", function()
  suite.write("before.lua", "print('script', ...) from_script = 8")
  local session = open(("XDG_STATE_HOME=%s exec interp -i before.lua a"):format(STATE))
  session:expect("script\ta\n> ")
  session:enter("from_script", "8")
  leave(session)
end)

test("other processes run while the prompt waits for a line", function()
  local session = prompt("-w 1")
  session:enter("shoal = require 'shoal'")
  session:enter("ch = shoal.channel()")
  session:enter("function body(ch)", nil, "\n>> ")
  session:enter("require('shoal').sleep(0.1)", nil, "\n>> ")
  session:enter("ch:send('k', 'sent')", nil, "\n>> ")
  session:enter("print('said meanwhile') end")
  -- Before the next prompt or behind it.
  session:type("p = shoal.spawn(body, ch)\n")
  session:expect("said meanwhile")
  session:enter("ch:receive('k')", "sent")
  leave(session)
end)

test("a statement may wait, and a deadlock is an error of it", function()
  local session = prompt()
  session:enter("shoal = require 'shoal'")
  session:enter("shoal.sleep(0.01)")
  session:enter("shoal.channel():receive('never')", "stdin:1: deadlock: ")
  session:enter("t = shoal.task(function() print('task') return 4 end)", "task")
  session:enter("t:result()", "4")
  leave(session)
end)

test("os.exit at the prompt ends the program", function()
  local session = prompt()
  session:type("os.exit(3)\n")
  equal(session:close(), 3)
end)

test("os.exit elsewhere ends the prompt and leaves the terminal as it was", function()
  local command = "stty -a >before; XDG_STATE_HOME=%s interp; echo status $?; stty -a >after"
  local session = open(command:format(STATE))
  session:expect("\n> ")
  session:enter("shoal = require 'shoal'")
  session:type("p = shoal.spawn(function() require 'shoal'.sleep(0.1) os.exit(4) end)\n")
  session:expect("status 4\n")
  session:close()
  equal(suite.read(suite.folder .. "/after"), suite.read(suite.folder .. "/before"))
end)

test("-i without a terminal reads plain lines", function()
  local input = "1 + 1\nfor i = 1, 2 do\nprint(i) end\n\nerror('oops')\nx ="
  local output, errors, status = suite.run("ours", "interp -i", input)
  equal(output:gsub("^[^\n]*\n", ""), "> 2\n> >> 1\n2\n> > > >> > \n")
  equal(
    errors,
    "stdin:1: oops\nstack traceback:\n\t[C]: in function 'error'\n\tstdin:1: in main chunk\n"
      .. "\t[C]: in ?\nstdin:1: unexpected symbol near <eof>\n"
  )
  equal(status, 0)
end)
