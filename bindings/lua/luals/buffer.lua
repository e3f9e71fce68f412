-- SPDX-License-Identifier: MIT
---@meta _
-- Shared bytes. See shoal.buffer.
-- luacheck: no unused

--- Immutable bytes that processes share. `#b` is their number; `a == b` if their bytes are equal.
--- Positions and ranges are those of strings. It may be sent: the receiver has the same bytes.
---@class shoal.buffer
---@operator len: integer
local Buffer = {}

--- A part of it, which shares its bytes and keeps all of them.
---@param i integer
---@param j? integer Default: -1.
---@return shoal.buffer
function Buffer:sub(i, j) end

--- Its bytes as integers, from 0 to 255.
---@param i? integer Default: 1.
---@param j? integer Default: `i`.
---@return integer ...
function Buffer:byte(i, j) end

--- The first place of these bytes. There are no patterns.
---@param wanted string|shoal.buffer
---@param init? integer Where to begin. Default: 1.
---@return integer|nil first Nil: there is none.
---@return integer|nil last
function Buffer:find(wanted, init) end

--- What `string.unpack` does.
---@param format string As of `string.pack`.
---@param position? integer Where to begin. Default: 1.
---@return any ... The values, and the position behind them.
function Buffer:unpack(format, position) end

--- A copy of its bytes.
---@param i? integer Default: 1.
---@param j? integer Default: -1.
---@return string
function Buffer:string(i, j) end
