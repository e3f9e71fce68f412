-- SPDX-License-Identifier: MIT
-- A program at a pseudo-terminal, by script(1): what a user types, and what he sees.

local suite = ...

local Terminal = {}
Terminal.__index = Terminal

-- How long to wait for what is expected, in polls of 20 ms: a busy machine may be slow.
local MOST_POLLS = 3000

-- Starts a command line of the shell.
local function open(command)
  local screen = suite.folder .. "/screen"
  suite.write("session", command)
  -- `exec`: a shell in between would take Ctrl-C for itself, too.
  os.remove(screen)
  local line = "cd %s && env -u LUA_INIT TERM=vt100 LC_ALL=C.UTF-8 PATH=%s/ours:$PATH"
    .. " timeout 120 script --quiet --flush --return --command 'exec bash ./session' %s >/dev/null"
  local pipe = assert(io.popen(line:format(suite.folder, suite.folder, screen), "w"))
  return setmetatable({ pipe = pipe, screen = screen, seen = 0 }, Terminal)
end

-- What has been shown so far, without the header of script(1).
function Terminal:text()
  local file = io.open(self.screen, "rb")
  local text = file and file:read("a") or ""
  if file then
    file:close()
  end
  return (text:gsub("^Script started[^\n]*\n", ""):gsub("\r", ""))
end

-- Waits until `text` is shown, behind what was expected before.
function Terminal:expect(text)
  for _ = 1, MOST_POLLS do
    local _, stop = self:text():find(text, self.seen + 1, true)
    if stop then
      self.seen = stop
      return
    end
    os.execute("sleep 0.02")
  end
  error(("expected: %s\nscreen:\n%s"):format(text, self:text()), 2)
end

-- Types, without a newline unless it is in `text`.
function Terminal:type(text)
  self.pipe:write(text)
  self.pipe:flush()
end

-- Types a line and waits for what it shows, and then for the next prompt.
function Terminal:enter(line, shows, prompt)
  self:type(line .. "\n")
  if shows then
    self:expect("\n" .. shows)
  end
  self:expect(prompt or "\n> ")
end

-- Waits until the program has ended. Returns its exit status.
function Terminal:close()
  local _, _, status = self.pipe:close()
  return status
end

return open
