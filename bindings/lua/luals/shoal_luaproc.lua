-- SPDX-License-Identifier: MIT
---@meta shoal.luaproc
-- The module luaproc, by its other name.

return require("luaproc")
