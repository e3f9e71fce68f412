-- SPDX-License-Identifier: MIT
---@meta shoal.lanes
-- The module lanes, by its other name.

return require("lanes")
