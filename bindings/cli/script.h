// SPDX-License-Identifier: MIT
// The Script is the body of the first process: it does the steps of the command line, one after the
// other, each as the stock interpreter would. The first one that fails is reported and ends the
// program with the status 1.
//
// Threads: made by the main thread; then the owner of the process.
#pragma once

#include <cstddef>
#include <lua.hpp>

#include "bindings/cli/command_line.h"
#include "bindings/cli/line_reader.h"
#include "bindings/cli/signals.h"
#include "runtime/base/log.h"

namespace shoal::cli {

struct Script {
  const CommandLine& command_line;
  core::Log& log;
  LineReader& reader;
  Signals& signals;
  std::size_t next_step = 0;
};

// For SpawnOptions::main; main_context is the Script.
int RunScript(lua_State* L);

}  // namespace shoal::cli
