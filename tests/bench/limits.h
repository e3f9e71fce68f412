// SPDX-License-Identifier: MIT
// The limits: what an operation costs at least, whoever carries it out. Measured in the stock Lua
// library without any of our code.
//
// Each returns nanoseconds of computing for one operation, and runs `count` of them.
#pragma once

namespace shoal::bench {

// luaL_newstate, luaL_openlibs, loading a dumped empty function, its call, lua_close.
double LimitSpawn(long count);

// A round trip of an integer between two coroutines of one state that a loop in C resumes by turns.
// Each side calls `object:send("key", x)` and `object:receive("key")`, methods of a userdata, which
// store the integer in a variable of C, and yield and fetch it: two sends, two receives, two
// yields, two resumes.
double LimitPingPong(long count);

// One coroutine.resume, in Lua, of a coroutine that calls coroutine.yield in a loop: what a Lua
// program pays for a switch with the stock library.
double LimitResume(long count);

// Lua builds the table that is sent in the row of tables, and walks it with `pairs`.
double LimitTable(long count);

// Calls in a second, by the clock, of the function of the row of a map that computes for long. Call
// it in a process of its own.
double LimitHeavyRate(long count);
// A call of the function of the row of light items, and a place in a list for its result.
double LimitItem(long count);

// The share of a processor that the thread had in all the measurements above so far: 1 on a quiet
// machine.
double ProcessorShare();

// Bytes of memory for one state with all libraries, of `count`. Call it in a process of its own.
double LimitStateBytes(long count);

}  // namespace shoal::bench
