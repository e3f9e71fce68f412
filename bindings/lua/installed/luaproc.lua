-- SPDX-License-Identifier: MIT
-- `require "shoal.luaproc"` in the stock interpreter: the module shoal has it built in.
require("shoal")
return package.preload["shoal.luaproc"]("shoal.luaproc")
