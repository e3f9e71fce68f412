// SPDX-License-Identifier: MIT
// The prompt reads statements, runs them, and prints the values of expressions, as the stock
// interpreter's does. While it waits for a line, other processes run, this one stands still.
// Ctrl-C interrupts the statement that runs.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "bindings/cli/line_reader.h"
#include "bindings/cli/signals.h"

namespace shoal::cli {

// Used as `return RunPrompt(…)` in the body of a process; returns when the input ends.
int RunPrompt(lua_State* L, LineReader& reader, Signals& signals);

}  // namespace shoal::cli
