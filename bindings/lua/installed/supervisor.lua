-- SPDX-License-Identifier: MIT
-- `require "shoal.supervisor"` in the stock interpreter: the module shoal has it built in.
require("shoal")
return package.preload["shoal.supervisor"]("shoal.supervisor")
