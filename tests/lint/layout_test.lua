#!/usr/bin/env lua5.4
-- SPDX-License-Identifier: MIT
-- Runs layout.lua on small trees, each with one fault or none.

local layout = assert(os.getenv("PWD")) .. "/tests/lint/layout.lua"
local SPDX = "// SPDX-License-Identifier: MIT\n"
local trees = 0

-- What layout.lua prints for a tree, given as path → content; "" if it finds nothing.
local function check(tree)
  trees = trees + 1
  local top = ("%s/tree%d"):format(os.getenv("TEST_TMPDIR") or os.tmpname() .. "d", trees)
  local list = {}
  for path, content in pairs(tree) do
    assert(os.execute(("mkdir -p '%s/%s'"):format(top, path:match("^(.*)/") or "")))
    local file = assert(io.open(top .. "/" .. path, "w"))
    file:write(content)
    file:close()
    list[#list + 1] = path
  end
  table.sort(list)
  local command = "cd '%s' && printf '%%s\\n' %s | lua5.4 '%s'"
  local pipe = assert(io.popen(command:format(top, table.concat(list, " "), layout)))
  local output = pipe:read("a")
  local passed = pipe:close()
  assert((output:find("faults in the layout", 1, true) == nil) == (passed == true), output)
  return output
end

local function accepts(tree)
  local output = check(tree)
  assert(output == "", output)
end

local function refuses(tree, expected)
  local output = check(tree)
  assert(output:find(expected, 1, true), ("expected: %s\ngot: %s"):format(expected, output))
  assert(output:find("1 faults in the layout", 1, true), output)
end

-- A tree with one header in `folder`, and the headers that it may want to include.
local function header(folder, content)
  return {
    ["runtime/base/clock.h"] = SPDX,
    ["runtime/channel/channel.h"] = SPDX,
    ["runtime/lua/codec.h"] = SPDX,
    ["runtime/sched/worker.h"] = SPDX,
    [folder .. "/it.h"] = SPDX .. content,
  }
end

-- Includes follow the layer table.
accepts(header("runtime/channel", '#include <vector>\n#include "runtime/base/clock.h"\n'))
accepts(header("runtime/process", '#include <lua.hpp>\n#include "runtime/channel/channel.h"\n'))
accepts(header("tests/channel", '#include <lua.hpp>\n#include "runtime/channel/channel.h"\n'))
accepts(header("bindings/lua", '#include "runtime/lua/codec.h"\n'))
refuses(
  header("bindings/lua", '#include "runtime/sched/worker.h"\n'),
  "bindings/lua/it.h:2: bindings/lua may not include runtime/sched/worker.h"
)
refuses(
  header("runtime/sched", '#include "runtime/channel/channel.h"\n'),
  "runtime/sched/it.h:2: runtime/sched may not include runtime/channel/channel.h"
)
refuses(header("runtime/base", '#include "clock.h"\n'), "quotes are for our own headers")
refuses(header("runtime/extra", ""), "has no row in the layer table")

-- So do the headers of libraries.
accepts(header("runtime/sched", "#include <concurrentqueue/concurrentqueue.h>\n"))
refuses(header("runtime/sched", "#include <lua.h>\n"), "<lua.h> is not for runtime/sched")
refuses(header("runtime/wait", "#include <concurrentqueue/concurrentqueue.h>\n"), "is not for")
refuses(header("runtime/wait", "#include <catch2/catch.hpp>\n"), "only for tests")
refuses(header("bindings/lua", "#include <histedit.h>\n"), "only for bindings/cli")

-- Each .cc has its own header first, and its test.
accepts({
  ["runtime/base/x.h"] = SPDX,
  ["runtime/base/x.cc"] = SPDX .. '#include "runtime/base/x.h"\n#include <vector>\n',
  ["tests/base/x_test.cc"] = SPDX,
  ["runtime/run.cc"] = SPDX,
  ["tests/runtime/run_test.cc"] = SPDX,
})
refuses({
  ["runtime/base/x.h"] = SPDX,
  ["runtime/base/x.cc"] = SPDX .. '#include <vector>\n#include "runtime/base/x.h"\n',
  ["tests/base/x_test.cc"] = SPDX,
}, 'runtime/base/x.cc:2: the first include must be its own header, "runtime/base/x.h"')
refuses({ ["runtime/base/x.cc"] = SPDX }, "has no test tests/base/x_test.cc")
refuses({ ["runtime/run.cc"] = SPDX }, "has no test tests/runtime/run_test.cc")

-- Terms: in names of files, types, functions, constants and namespaces, as whole words.
accepts(header("runtime/base", "class Database { int data(); };  // data, info and a FooManager\n"))
accepts(header("runtime/base", 'const char* s = "LaneManager"; auto t = R"x(GetData)x";\n'))
accepts(header("runtime/base", "using LUALIB = PlaneFactory; int x = 1'000;\n"))
accepts({ ["bindings/lua/lanes.h"] = SPDX .. "class LaneHandle;\n" })
refuses(header("runtime/base", "class FooManager;\n"), 'FooManager says "manager"')
refuses(header("runtime/base", "int x = 1'000; void GetInfo();\n"), 'GetInfo says "info"')
refuses(header("runtime/base", "constexpr int kLanes = 1;\n"), 'kLanes says "lanes"')
refuses(header("runtime/base", "namespace shoal::util {\n"), 'the namespace says "util"')
refuses({ ["runtime/base/path_helper.h"] = SPDX }, 'the name says "helper"')

-- Sizes and the licence.
accepts({ ["examples/a.lua"] = "#!/usr/bin/env shoal\n-- SPDX-License-Identifier: MIT\n" })
refuses({ ["examples/a.lua"] = "print(1)\n" }, "the first line must be the SPDX line")
refuses({ ["tests/a.lua"] = "-- SPDX-License-Identifier: MIT" .. ("\n"):rep(601) }, "601 lines")
local long = check({ ["tests/a.lua"] = "-- SPDX-License-Identifier: MIT" .. ("\n"):rep(401) })
assert(long:find("warning: 401 lines", 1, true), long)

print(("%d trees checked"):format(trees))
