// SPDX-License-Identifier: MIT
/// \file
/// OpenHost lets a lua_State of the program take part in a runtime.
#pragma once

#include <shoal/result.h>
#include <shoal/runtime.h>

struct lua_State;

namespace shoal {

/// Makes a state that the program has made itself, and goes on running itself, a host of `runtime`:
/// `require "shoal"` in it brings all of Shoal, with the channels and processes of that runtime,
/// and so do the modules and globals that have been added to the runtime. Several states may take
/// part.
///
///     lua_State* L = luaL_newstate();
///     luaL_openlibs(L);
///     if (auto r = shoal::OpenHost(L, runtime); !r) return Fail(r.error());
///     luaL_dostring(L, "local shoal = require 'shoal' …");
///     …
///     lua_close(L);
///
/// To the others it is a process, which is a daemon. Its waits block the thread that runs it, and
/// its tasks run meanwhile; all else that is said of hosts in the reference holds as well, but for
/// `shoal.configure` and `shoal.compat`, which do nothing here, and the end: closing the state
/// waits for nobody. With `workers = 0`, what it waits for, time too, has to come from another
/// thread, which is in RunFor.
///
/// It takes part until it is closed. If the Runtime ends before, its handles say kClosed as always,
/// but its processes go on until the last such state is closed, on whose thread the end then comes.
///
/// In a child of a fork, what uses Shoal in the state raises.
///
/// Outcomes: kOk; kExists: it takes part in a runtime already, this or another one; kClosed;
///           kMisuse: it is the state of a process, or `runtime` has not started; kNoMemory.
/// Threads:  the thread that runs the state, which is none of the runtime's.
Result<void> OpenHost(lua_State* L, Runtime& runtime) noexcept;

}  // namespace shoal
