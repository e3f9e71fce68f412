-- SPDX-License-Identifier: MIT
-- `require "shoal.lanes"` in the stock interpreter: the module shoal has it built in.
require("shoal")
return package.preload["shoal.lanes"]("shoal.lanes")
