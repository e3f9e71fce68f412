// SPDX-License-Identifier: MIT
// What `--sim` needs besides a simulated runtime: addresses that are the same each time, and the
// search for a seed that fails.
//
// Threads: the main thread, while it is the only one.
#pragma once

#include "bindings/cli/command_line.h"

namespace shoal::cli {

// Makes all addresses of this program the same in each run, by starting it anew if they are not.
// Where the system refuses that, says so and goes on.
void FixAddresses(char** arguments);

// Runs the program with each of the seeds of the command line, until one fails. Shows what that one
// has put out and how to see it again. Returns the exit status: 1 if one failed.
int TrySeeds(const CommandLine& line);

}  // namespace shoal::cli
